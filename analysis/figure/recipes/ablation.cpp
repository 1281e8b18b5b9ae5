// Figure of ablation: change of the answers without each head or layer, layer × head.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipes/study_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Numbers of layers and heads that the series ablate.
struct AblatedExtents {
  std::int64_t layers = 0, heads = 0;
};

AblatedExtents ablated_extents(const StudyResult& result) {
  AblatedExtents extents;
  for (const StudySeries& series : result.series) {
    for (const StudySeries::Column& column : series.columns) {
      extents.layers = std::max(extents.layers, column.layer + 1);
      extents.heads = std::max(extents.heads, column.head + 1);
    }
  }
  if (extents.layers > 0) return extents;
  throw Error(ErrorKind::usage, "the study replaced everything at once and has no table to draw")
      .expected("attnscope ablate --each head or --each layer");
}

HeatMap ablation_heat(const StudyResult& result, std::size_t series, const OutcomeMeasure& measure,
                      const AblatedExtents& extents) {
  HeatMap heat;
  heat.rows = extents.layers;
  heat.columns = extents.heads;
  heat.values.assign(static_cast<std::size_t>(heat.rows * heat.columns), std::nanf(""));
  const StudySeries& of = result.series[series];
  for (std::size_t column = 1; column < of.columns.size(); ++column) {
    const StudySeries::Column& place = of.columns[column];
    heat.values[static_cast<std::size_t>(place.layer * heat.columns + place.head)] =
        static_cast<float>(measure.factor * outcome_of(result, series, column).*measure.value);
  }
  return heat;
}

Panel ablation_panel(const AblatedExtents& extents, std::int64_t first_layer) {
  Panel panel;
  panel.reversed_y = true;
  panel.x.key = "head";
  panel.y.key = "layer";
  panel.x.minimum = panel.y.minimum = -0.5;
  panel.x.maximum = static_cast<double>(extents.heads) - 0.5;
  panel.y.maximum = static_cast<double>(extents.layers) - 0.5;
  panel.x.ticks = layer_ticks(extents.heads);
  for (const Tick& tick : layer_ticks(extents.layers)) {
    panel.y.ticks.push_back(
        {tick.value, std::to_string(static_cast<std::int64_t>(tick.value) + first_layer)});
  }
  return panel;
}

/// The colour scale of one measure, for changes of both signs.
ColourScale scale_of(const Settings& read, const OutcomeMeasure& measure,
                     const std::vector<float>& values, double room_mm) {
  HeatScale scale = heat_scale(read, values, fitted(std::string(measure.title), room_mm, 7));
  if (measure.value != &Outcome::accuracy_change) return scale.scale;
  double greatest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(static_cast<double>(value)));
  }
  scale.scale.colour_map = "diverging";
  scale.scale.maximum = greatest > 0 ? greatest : 1;
  scale.scale.minimum = -scale.scale.maximum;
  return scale.scale;
}

void draw_tables(Figure& figure, const FigureRequest& request, const StudyResult& result,
                 const std::vector<const OutcomeMeasure*>& shown, const AblatedExtents& extents) {
  const Settings read(request);
  const std::vector<std::string> labels = study_labels(result);
  const double row_mm = std::clamp(2.6 * static_cast<double>(extents.layers), 15.0, 45.0);
  for (std::size_t row = 0; row < shown.size(); ++row) {
    std::vector<float> values;
    for (std::size_t series = 0; series < result.series.size(); ++series) {
      Panel panel = ablation_panel(extents, request.first_layer);
      panel.row = static_cast<std::int64_t>(row);
      panel.column = static_cast<std::int64_t>(series);
      if (row == 0 && result.series.size() > 1) panel.title = labels[series];
      if (series == 0) panel.y.label = "layer";
      if (row + 1 == shown.size()) panel.x.label = "head";
      panel.keys = {{"model", result.series[series].label},
                    {"measure", std::string(shown[row]->name)}};
      HeatMap heat = ablation_heat(result, series, *shown[row], extents);
      heat.colour_scale = row;
      values.insert(values.end(), heat.values.begin(), heat.values.end());
      panel.marks.emplace_back(std::move(heat));
      figure.panels.push_back(std::move(panel));
    }
    figure.colour_scales.push_back(scale_of(read, *shown[row], values, row_mm));
  }
  figure.height_mm = 6 + static_cast<double>(shown.size()) * (row_mm + 8.5);
}

/// Draws the ablation of whole layers: a curve over depth per series.
void draw_curves(Figure& figure, const FigureRequest& request, const StudyResult& result,
                 const std::vector<const OutcomeMeasure*>& shown, const AblatedExtents& extents) {
  const Settings read(request);
  const std::vector<std::string> labels = study_labels(result);
  const auto first = static_cast<double>(request.first_layer);
  for (std::size_t row = 0; row < shown.size(); ++row) {
    const OutcomeMeasure& measure = *shown[row];
    Panel panel;
    panel.row = static_cast<std::int64_t>(row);
    panel.x.key = "layer";
    if (row + 1 == shown.size()) panel.x.label = "layer";
    panel.x.minimum = first - 0.35;
    panel.x.maximum = first + static_cast<double>(extents.layers) - 0.65;
    panel.x.ticks = layer_ticks(extents.layers, request.first_layer);
    panel.y.label = fitted(std::string(measure.title), 0.4 * request.width_mm, 7);
    for (std::size_t series = 0; series < result.series.size(); ++series) {
      Line line;
      Band band;
      line.label = labels[series];
      line.colour = subject_colour(series);
      line.marker = subject_marker(series);
      line.keys = band.keys = {{"model", result.series[series].label}};
      band.colour = with_alpha(line.colour, 40);
      band.name = result.series[series].label + ", ± error";
      const StudySeries& of = result.series[series];
      for (std::size_t column = 1; column < of.columns.size(); ++column) {
        const Outcome outcome = outcome_of(result, series, column);
        const double value = measure.factor * outcome.*measure.value;
        const double error = measure.factor * outcome.*measure.error;
        line.x.push_back(first + static_cast<double>(of.columns[column].layer));
        line.y.push_back(value);
        band.x.push_back(line.x.back());
        band.low.push_back(std::isfinite(error) ? value - error : value);
        band.high.push_back(std::isfinite(error) ? value + error : value);
      }
      figure.numbers[std::string(measure.name) + "/" + of.label] = line.y;
      panel.marks.emplace_back(std::move(band));
      panel.marks.emplace_back(std::move(line));
    }
    if (row + 1 == shown.size() && result.series.size() > 1) panel.legend = legend_of(read);
    figure.panels.push_back(std::move(panel));
  }
  figure.height_mm = 0.5 * request.width_mm * static_cast<double>(shown.size()) + 3 +
                     legend_mm(figure, request.width_mm);
}

Figure make_ablation(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const StudyResult result = study_shown(read, StudyKind::ablation);
  const AblatedExtents extents = ablated_extents(result);
  std::vector<const OutcomeMeasure*> shown;
  for (const std::string& name : read.names("show")) {
    const OutcomeMeasure& measure = outcome_measure(name);
    if (measure.of_text && !result.of_text) {
      throw Error(ErrorKind::usage, "bits per character or token are only defined for text")
          .about("show")
          .found(name);
    }
    shown.push_back(&measure);
  }
  Figure figure;
  if (extents.heads > 0) {
    draw_tables(figure, request, result, shown, extents);
  } else {
    draw_curves(figure, request, result, shown, extents);
  }
  figure.caption = "What the answers lose without each " +
                   std::string(extents.heads > 0 ? "head" : "layer's attention") + ": " +
                   result.description + ". " + study_in_words(result) + ". ";
  if (extents.heads == 0) figure.caption += "Bands: ± " + errors_in_words(result) + ". ";
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe ablation_recipe() {
  return {.name = "ablation",
          .title = "Answers without single heads or layers",
          .question = FigureQuestion::removal,
          .has_panel = true,
          .settings = {study_file_setting("attnscope ablate"),
                       setting::names("show",
                                      {"accuracy-change", "divergence", "accuracy",
                                       "bits-per-character", "bits-per-token"},
                                      {"accuracy-change", "divergence"}, "a row each"),
                       colour_map_setting(), norm_setting(), range_setting("full"),
                       legend_setting(true)},
          .needs = study_needs,
          .make = make_ablation};
}

}  // namespace attnscope
