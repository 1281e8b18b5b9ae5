// Figure of published measures of heads over depth: the sorted heads of each layer, and their mean,
// like Dosovitskiy et al. 2021, Fig. 7 right.
#include <algorithm>
#include <functional>

#include "analysis/figure/recipes/head_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

/// The heads' values per layer, in descending order.
std::map<std::int64_t, std::vector<double>> sorted_by_layer(const HeadValues& values) {
  std::map<std::int64_t, std::vector<double>> layers;
  for (const auto& [place, value] : values) layers[place.first].push_back(value);
  for (auto& [layer, heads] : layers) std::sort(heads.begin(), heads.end(), std::greater<>());
  return layers;
}

void add_heads(Figure& figure, Panel& panel, const HeadFigureData& data, std::size_t group,
               const HeadMeasure& measure, std::int64_t first_layer, bool single_heads) {
  const auto layers = sorted_by_layer(data.values(group, measure));
  if (layers.empty()) return;
  const SubjectGroup& subjects = data.groups[group];
  const Colour colour = subject_colour(group);
  std::size_t most = 0;
  Line mean;
  mean.label = subjects.short_label;
  mean.keys = {{"model", subjects.label}, {"measure", std::string(measure.name)}};
  mean.colour = colour;
  mean.marker = subject_marker(group);
  for (const auto& [layer, heads] : layers) {
    double sum = 0;
    for (const double value : heads) sum += value;
    mean.x.push_back(static_cast<double>(layer + first_layer));
    mean.y.push_back(sum / static_cast<double>(heads.size()));
    most = std::max(most, heads.size());
  }
  for (std::size_t place = 0; single_heads && most > 1 && place < most; ++place) {
    Line line;
    line.name = subjects.label + ", head " + std::to_string(place + 1) + " from the top";
    line.keys = mean.keys;
    line.colour = with_alpha(colour, 110);
    line.width_pt = 0.5;
    for (const auto& [layer, heads] : layers) {
      if (place >= heads.size()) continue;
      line.x.push_back(static_cast<double>(layer + first_layer));
      line.y.push_back(heads[place]);
    }
    panel.marks.emplace_back(std::move(line));
  }
  figure.numbers[std::string(measure.name) + "/" + subjects.label] = mean.y;
  panel.marks.emplace_back(std::move(mean));
}

Figure make_heads_over_depth(const FigureRequest& request, const Progress& progress) {
  const HeadFigureData data = head_figure_data(request, progress);
  const Settings read(request);
  const std::int64_t layers = extents_of(data).first;
  const std::int64_t across = std::min<std::int64_t>(std::ssize(data.measures), 2);
  const auto first = static_cast<double>(request.first_layer);
  Figure figure;
  for (std::size_t index = 0; index < data.measures.size(); ++index) {
    const HeadMeasure& measure = *data.measures[index];
    const auto place = static_cast<std::int64_t>(index);
    Panel panel;
    panel.row = place / across;
    panel.column = place % across;
    panel.x.key = "layer";
    if (place + across >= std::ssize(data.measures)) panel.x.label = "layer";
    panel.x.minimum = first - 0.35;
    panel.x.maximum = first + static_cast<double>(layers) - 0.65;
    panel.x.ticks = layer_ticks(layers, request.first_layer);
    panel.y.label = fitted(title_of(measure, data.distance_unit, data.options.analysed),
                           0.3 * request.width_mm, figure.font_size_pt);
    panel.y.minimum = 0;
    for (std::size_t group = 0; group < data.groups.size(); ++group) {
      add_heads(figure, panel, data, group, measure, request.first_layer,
                read.is("spread", "heads"));
    }
    figure.panels.push_back(std::move(panel));
  }
  const bool legend = !read.is("legend", "none") && data.groups.size() > 1;
  figure.shared_legend = legend;
  for (Panel& panel : figure.panels)
    panel.legend = legend ? LegendPosition::below : LegendPosition::none;
  const auto rows = static_cast<double>((std::ssize(data.measures) + across - 1) / across);
  figure.height_mm =
      rows * (across > 1 ? 0.4 : 0.55) * request.width_mm + 3 + legend_mm(figure, request.width_mm);
  figure.caption = "Over depth, means over the heads of a layer";
  if (read.is("spread", "heads")) figure.caption += ", and thin its heads from the greatest down";
  figure.caption += ". " + data.caption(request);
  return figure;
}

}  // namespace

FigureRecipe heads_over_depth_recipe() {
  std::vector<ParameterDescription> settings = head_settings();
  settings.push_back(setting::choice("spread", {"heads", "none"}, "heads",
                                     "the heads of each layer in order, or the means alone"));
  settings.push_back(legend_setting());
  return {.name = "heads-over-depth",
          .title = "Measures of heads over depth",
          .source = "Dosovitskiy et al. 2021, Fig. 7",
          .question = FigureQuestion::heads,
          .has_panel = true,
          .settings = std::move(settings),
          .needs = {.vectors = true},
          .make = make_heads_over_depth};
}

}  // namespace attnscope
