#include "analysis/figure/recipes/compared_subjects.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/fit.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

ParameterDescription reference_setting() {
  return setting::whole("reference", 1, {.minimum = 1},
                        "number of the model that the others are compared with, from 1");
}

ParameterDescription align_setting() {
  return setting::choice("align", names_of(layer_alignment_names), "index",
                         "how layers of models of different depth are matched: by index or by "
                         "relative depth");
}

ParameterDescription match_heads_setting() {
  return setting::flag("match-heads", false, "each head next to the reference's most similar one");
}

std::vector<ParameterDescription> comparison_settings() {
  return {reference_setting(), align_setting(), match_heads_setting(), single_identity_setting(),
          threshold_setting(), share_setting(), of_setting(),          centred_setting(),
          added_setting(),     legend_setting()};
}

ComparedSubjects compared_subjects(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const std::size_t count = request.subjects.size();
  ComparedSubjects compared;
  const std::int64_t wanted = read.whole("reference");
  if (wanted > std::ssize(request.subjects)) {
    throw Error(ErrorKind::usage, "the reference is not one of the models")
        .about("reference")
        .expected("1 to " + std::to_string(count))
        .found(std::to_string(wanted));
  }
  compared.reference = static_cast<std::size_t>(wanted - 1);
  compared.first_layer = request.first_layer;
  compared.options.layers = read.choice("align", layer_alignment_names);
  compared.options.match_heads = read.flag("match-heads");
  compared.options.threshold = threshold_of(read);
  if (request.settings.contains("of")) compared.options.analysed = analysed_by(read);
  compared.options.analysed.identity = read.choice("identity", identity_view_names);
  const std::vector<std::string> labels = short_labels(request);
  compared.reference_shown = labels[compared.reference];
  const double share = 1.0 / static_cast<double>(count - 1);
  for (std::size_t index = 0; index < count; ++index) {
    if (index == compared.reference) continue;
    const double first = share * static_cast<double>(compared.others.size());
    compared.others.push_back(
        {index, request.subjects[index].label, labels[index],
         compare_subjects(request.subjects[compared.reference], request.subjects[index],
                          compared.options, {}, progress.part(first, first + share))});
  }
  return compared;
}

std::string comparison_in_words(const FigureRequest& request, const ComparedSubjects& compared) {
  std::vector<std::size_t> others;
  for (const ComparedSubject& other : compared.others) others.push_back(other.subject);
  std::string text = subjects_in_words(with_subjects(request, others)) + " against " +
                     subjects_in_words(with_subjects(request, {compared.reference})) + "; " +
                     alignment_in_words(compared.options);
  for (const ComparedSubject& other : compared.others) {
    if (!other.comparison.summary.empty()) {
      text += "; " + other.label + ": " + other.comparison.summary;
    }
  }
  return text;
}

PanelSplit split_for(double width_mm) {
  if (width_mm >= 120) return {0, 1, 0.36 * width_mm};
  return {1, 0, 1.12 * width_mm};
}

Panel by_layer_panel(const ComparedSubjects& compared, const PanelSplit& split) {
  std::int64_t layers = 0;
  for (const ComparedSubject& other : compared.others) {
    layers = std::max(layers, std::ssize(other.comparison.layers));
  }
  Panel panel;
  panel.row = split.row;
  panel.column = split.column;
  panel.letter = "b";
  panel.x.label = panel.x.key = "layer";
  const auto first = static_cast<double>(compared.first_layer);
  panel.x.minimum = first - 0.35;
  panel.x.maximum = first + static_cast<double>(layers) - 0.65;
  panel.x.ticks = layer_ticks(layers, compared.first_layer);
  return panel;
}

std::vector<double> add_by_layer(Panel& panel, const ComparedSubject& other,
                                 std::int64_t first_layer, ComparisonQuantity quantity,
                                 LineStyle style) {
  const auto add_to = [quantity, first_layer](Line& line, const auto& part) {
    const double value = part.values[quantity];
    if (std::isnan(value)) return;
    line.x.push_back(static_cast<double>(part.layer + first_layer));
    line.y.push_back(value);
  };
  Line heads, means;
  for (const ComparedMap& map : other.comparison.maps) add_to(heads, map);
  for (const ComparedLayer& layer : other.comparison.layers) add_to(means, layer);
  heads.name = other.label + ", each head";
  heads.style = LineStyle::none;
  heads.marker = means.marker = subject_marker(other.subject);
  heads.colour = with_alpha(subject_colour(other.subject), 90);
  means.name = other.label + ", mean of heads";
  means.colour = subject_colour(other.subject);
  means.style = style;
  std::vector<double> values = means.y;
  panel.marks.emplace_back(std::move(heads));
  panel.marks.emplace_back(std::move(means));
  return values;
}

}  // namespace attnscope
