// Figure of published measures of heads as layer × head heat maps: rows are measures, columns
// models.
#include <algorithm>
#include <cmath>

#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipes/head_figures.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

constexpr double kCellMm = 2.6, kAxisMm = 8.5;

HeatMap heat_of(const HeadValues& values, std::int64_t layers, std::int64_t heads) {
  HeatMap heat;
  heat.rows = layers;
  heat.columns = heads;
  heat.values.assign(static_cast<std::size_t>(layers * heads), std::nanf(""));
  for (const auto& [place, value] : values) {
    heat.values[static_cast<std::size_t>(place.first * heads + place.second)] =
        static_cast<float>(value);
  }
  return heat;
}

Panel head_panel(std::int64_t layers, std::int64_t heads, std::int64_t first_layer) {
  Panel panel;
  panel.reversed_y = true;
  panel.x.key = "head";
  panel.y.key = "layer";
  panel.x.minimum = panel.y.minimum = -0.5;
  panel.x.maximum = static_cast<double>(heads) - 0.5;
  panel.y.maximum = static_cast<double>(layers) - 0.5;
  panel.x.ticks = layer_ticks(heads);
  for (const Tick& tick : layer_ticks(layers)) {
    panel.y.ticks.push_back(
        {tick.value, std::to_string(static_cast<std::int64_t>(tick.value) + first_layer)});
  }
  return panel;
}

Figure make_heads_by_layer(const FigureRequest& request, const Progress& progress) {
  const HeadFigureData data = head_figure_data(request, progress);
  const Settings read(request);
  const auto [layers, heads] = extents_of(data);
  Figure figure;
  const double row_mm = std::clamp(kCellMm * static_cast<double>(layers), 15.0, 45.0);
  bool clipped = false;
  for (std::size_t row = 0; row < data.measures.size(); ++row) {
    const HeadMeasure& measure = *data.measures[row];
    std::vector<float> shown;
    for (std::size_t group = 0; group < data.groups.size(); ++group) {
      Panel panel = head_panel(layers, heads, request.first_layer);
      panel.row = static_cast<std::int64_t>(row);
      panel.column = static_cast<std::int64_t>(group);
      if (row == 0 && data.groups.size() > 1) panel.title = data.groups[group].short_label;
      if (group == 0) panel.y.label = "layer";
      if (row + 1 == data.measures.size()) panel.x.label = "head";
      panel.keys = {{"model", data.groups[group].label}, {"measure", std::string(measure.name)}};
      HeatMap heat = heat_of(data.values(group, measure), layers, heads);
      heat.colour_scale = row;
      shown.insert(shown.end(), heat.values.begin(), heat.values.end());
      panel.marks.emplace_back(std::move(heat));
      figure.panels.push_back(std::move(panel));
    }
    const HeatScale scale =
        heat_scale(read, std::move(shown),
                   fitted(title_of(measure, data.distance_unit, data.options.analysed), row_mm,
                          figure.font_size_pt));
    clipped = clipped || scale.clipped;
    figure.colour_scales.push_back(scale.scale);
  }
  figure.height_mm = 6 + static_cast<double>(data.measures.size()) * (row_mm + kAxisMm);
  figure.caption = "Each head of each layer. Grey: not known. ";
  if (clipped) figure.caption += "Values beyond the range have the colour of its end. ";
  figure.caption += data.caption(request);
  return figure;
}

}  // namespace

FigureRecipe heads_by_layer_recipe() {
  std::vector<ParameterDescription> settings = head_settings();
  settings.push_back(colour_map_setting());
  settings.push_back(norm_setting());
  settings.push_back(range_setting("full"));
  return {.name = "heads-by-layer",
          .title = "Measures of every head, layer by layer",
          .question = FigureQuestion::heads,
          .has_panel = true,
          .settings = std::move(settings),
          .needs = {.vectors = true},
          .make = make_heads_by_layer};
}

}  // namespace attnscope
