// Figure of spatial frequencies over the grid of patches: what maps let pass (Wang et al. 2022),
// and the log-amplitude of the tokens (Park & Kim 2022, Fig. 2).
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/frequencies/grid_spectrum.h"

namespace attnscope {

namespace {

/// One measure of one subject at every depth.
struct DepthCurves {
  bool amplitude = false;  ///< Δ log-amplitude of tokens; else the response of maps
  std::vector<FrequencyCurve> depths;
};

DepthCurves depth_curves(const Subject& subject, const Settings& read, const std::string& measure,
                         const Progress& progress) {
  const FrequencyProfile profile =
      value_of(frequency_profile_names, read.text("profile"), "profile over frequencies");
  const Trace& trace = *subject.trace;
  DepthCurves curves{measure == "amplitude", {}};
  if (!curves.amplitude) {
    curves.depths =
        filter_responses(trace, profile, identity_views(read).front(), {}, {}, progress);
    return curves;
  }
  curves.depths = token_amplitudes(trace, profile);
  for (FrequencyCurve& curve : curves.depths) {
    const double at_zero = curve.value.front();
    for (double& value : curve.value) value -= at_zero;
  }
  return curves;
}

std::string depth_label(const FigureRequest& request, std::int64_t layer) {
  return layer < 0 ? "embedded" : layer_name(request, layer);
}

/// A line for each depth, from dark to light; the embedded tokens are grey.
void add_depths(const FigureRequest& request, const Subject& subject, const DepthCurves& curves,
                Figure& figure, Panel& panel) {
  const std::int64_t layers = std::ssize(subject.trace->layers);
  constexpr std::int64_t kAllLabelled = 8;
  for (const FrequencyCurve& curve : curves.depths) {
    const std::int64_t layer = curve.layer;
    Line line;
    const std::string label = depth_label(request, layer);
    const bool labelled =
        layers <= kAllLabelled || layer <= 0 || layer + 1 == layers || layer == layers / 2;
    (labelled ? line.label : line.name) = label;
    line.keys = {{"layer", std::to_string(layer + request.first_layer)}};
    line.x = curve.frequency;
    line.y = curve.value;
    constexpr double kLightest = 0.92;  // yellow on white is hard to see
    line.colour = layer < 0
                      ? neutral_colour
                      : colour_at(find_colour_map("viridis"),
                                  kLightest * static_cast<double>(layer) /
                                      static_cast<double>(std::max<std::int64_t>(layers - 1, 1)));
    if (layer < 0) line.style = LineStyle::dashed;
    figure.numbers[(curves.amplitude ? "delta_log_amplitude/" : "response/") + subject.label +
                   ", " + label] = line.y;
    panel.marks.emplace_back(std::move(line));
  }
}

Line over_depth(const FigureRequest& request, std::size_t index, const std::string& label,
                const DepthCurves& curves) {
  Line line;
  line.label = label;
  line.colour = subject_colour(index);
  line.marker = subject_marker(index);
  line.keys = {{"model", request.subjects[index].label}};
  for (const FrequencyCurve& curve : curves.depths) {
    line.x.push_back(static_cast<double>(curve.layer + request.first_layer));
    line.y.push_back(high_frequency_mean(curve));
  }
  return line;
}

const char* y_title(const std::string& measure) {
  return measure == "amplitude" ? "Δ log-amplitude of tokens" : "response of maps";
}

/// Gives all panels of responses the same decades, so that subjects compare.
void share_decades(Figure& figure) {
  double least = 1, greatest = 1;  // the response of I
  const auto for_responses = [&figure](const auto& visit) {
    for (Panel& panel : figure.panels) {
      if (panel.y.logarithmic) visit(panel);
    }
  };
  for_responses([&](const Panel& panel) {
    for (const Mark& mark : panel.marks) {
      for (const double value : std::get<Line>(mark).y) {
        if (value > 0) least = std::min(least, value);
        greatest = std::max(greatest, value);
      }
    }
  });
  for_responses([&](Panel& panel) {
    panel.y.minimum = std::pow(10, std::min(std::floor(std::log10(least)), -1.0));
    panel.y.maximum = std::pow(10, std::max(std::ceil(std::log10(greatest)), 0.0));
  });
}

/// A panel for each subject and measure, with a line for each depth.
void add_panels_by_frequency(const FigureRequest& request, const Progress& progress,
                             Figure& figure) {
  const Settings read(request);
  const std::vector<std::string> labels = short_labels(request);
  const std::vector<std::string> measures = read.names("measures");
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const Subject& subject = request.subjects[index];
    for (std::size_t at = 0; at < measures.size(); ++at) {
      Panel panel;
      panel.row = static_cast<std::int64_t>(index);
      panel.column = static_cast<std::int64_t>(at);
      panel.keys = {{"model", subject.label}, {"measure", measures[at]}};
      if (request.subjects.size() > 1) panel.title = labels[index];
      panel.y.label = y_title(measures[at]);
      panel.y.logarithmic = measures[at] == "response";
      panel.x.minimum = 0;
      if (index + 1 == request.subjects.size()) panel.x.label = "frequency (π per patch)";
      add_depths(request, subject, depth_curves(subject, read, measures[at], progress), figure,
                 panel);
      panel.legend = LegendPosition::below;
      figure.panels.push_back(std::move(panel));
    }
  }
  share_decades(figure);
  figure.shared_legend = true;
}

/// A panel for each measure, with a line for each subject: means of the high frequencies.
void add_panels_over_depth(const FigureRequest& request, const Progress& progress, Figure& figure) {
  const Settings read(request);
  const std::vector<std::string> labels = short_labels(request);
  const std::vector<std::string> measures = read.names("measures");
  const std::int64_t layers = shared_extents(request).layers;
  const auto first = static_cast<double>(request.first_layer);
  for (std::size_t at = 0; at < measures.size(); ++at) {
    Panel panel;
    panel.column = static_cast<std::int64_t>(at);
    panel.keys = {{"measure", measures[at]}};
    panel.y.label = y_title(measures[at]);
    panel.x.key = "layer";
    panel.x.label = measures[at] == "amplitude" ? "after layer" : "layer";
    panel.x.ticks = layer_ticks(layers, request.first_layer);
    double least = first;
    for (std::size_t index = 0; index < request.subjects.size(); ++index) {
      const DepthCurves curves =
          depth_curves(request.subjects[index], read, measures[at], progress);
      if (curves.depths.front().layer < 0) least = first - 1;
      Line line = over_depth(request, index, labels[index], curves);
      figure.numbers["high_" + measures[at] + "/" + request.subjects[index].label] = line.y;
      panel.marks.emplace_back(std::move(line));
    }
    if (least < first) panel.x.ticks.insert(panel.x.ticks.begin(), {least, "in"});
    panel.x.minimum = least - 0.35;
    panel.x.maximum = first + static_cast<double>(layers) - 0.65;
    if (measures[at] == "response") panel.y.minimum = 0;
    panel.legend = request.subjects.size() > 1 ? LegendPosition::below : LegendPosition::none;
    figure.panels.push_back(std::move(panel));
  }
  figure.shared_legend = request.subjects.size() > 1;
}

std::string measures_in_words(const Settings& read) {
  std::string words;
  for (const std::string& measure : read.names("measures")) {
    words += measure == "response"
                 ? "Response ‖(F A)_k‖ of the maps between patches, mean over heads. "
                 : "Log-amplitude of the tokens' Fourier transform over the patches, minus that at "
                   "frequency 0, mean over channels. ";
  }
  return words + (read.is("profile", "radius") ? "Means over frequencies of equal radius"
                                               : "Frequencies along the diagonal");
}

Figure make_spatial_frequencies(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  Figure figure;
  const bool by_frequency = read.is("over", "frequency");
  if (by_frequency) {
    add_panels_by_frequency(request, progress, figure);
  } else {
    add_panels_over_depth(request, progress, figure);
  }
  if (read.is("legend", "none")) {
    figure.shared_legend = false;
    for (Panel& panel : figure.panels) panel.legend = LegendPosition::none;
  }
  const auto rows = static_cast<double>(figure.panels.back().row + 1);
  const bool single = figure.panels.back().column == 0;
  figure.height_mm =
      rows * (single ? 0.6 : 0.42) * request.width_mm + 3 + legend_mm(figure, request.width_mm);
  figure.caption = measures_in_words(read) +
                   (by_frequency ? ", a line for each depth" : ", from π/2 per patch on") + ". " +
                   subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe spatial_frequencies_recipe() {
  return {.name = "spatial-frequencies",
          .title = "Spatial frequencies of maps and tokens",
          .source = "Wang et al. 2022; Park & Kim 2022, Fig. 2",
          .question = FigureQuestion::heads,
          .settings = {setting::names("measures", {"response", "amplitude"},
                                      {"response", "amplitude"}, "a panel each"),
                       setting::choice("over", {"frequency", "depth"}, "frequency",
                                       "a line for each depth over frequency, or the mean of the "
                                       "high frequencies over depth"),
                       setting::choice("profile", names_of(frequency_profile_names), "radius",
                                       "means over frequencies of equal radius, or those along "
                                       "the diagonal alone"),
                       single_identity_setting(), legend_setting()},
          .needs = {.input = InputNeed::image, .missing = "needs a model of images, run on one"},
          .make = make_spatial_frequencies};
}

}  // namespace attnscope
