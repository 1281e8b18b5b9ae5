// Figure of statistics of mechanisms' own quantities (hash codes, importances) over many inputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/sweep_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/sweep/sweep_summary.h"
#include "analysis/sweep/swept_numbers.h"
#include "core/error.h"

namespace attnscope {

namespace {

std::vector<StatisticName> statistics_in(const SweepResult& result, const std::string& wanted) {
  std::set<std::string> present;
  for (const SweepSeries& series : result.series) {
    for (const LayerSweep& layer : series.layers) {
      for (const auto& [name, sums] : layer.statistics) {
        if (std::ranges::any_of(sums.counts, [](std::int64_t count) { return count > 0; })) {
          present.insert(name);
        }
      }
    }
  }
  std::vector<StatisticName> list;
  std::string known;
  for (const StatisticName& statistic : statistic_names()) {
    const std::string name(statistic.name);
    if (!present.contains(name)) continue;
    known += (known.empty() ? "" : ", ") + name;
    if (wanted == "all" || wanted == name) list.push_back(statistic);
  }
  if (!list.empty()) return list;
  if (known.empty()) {
    throw Error(ErrorKind::usage, "no mechanism of this sweep has quantities of its own")
        .expected("hashed or additive attention");
  }
  throw unknown_name("statistic of the sweep", wanted, known);
}

ParameterDescription statistic_setting() {
  std::vector<std::string> names = {"all"};
  for (const StatisticName& statistic : statistic_names()) names.emplace_back(statistic.name);
  return setting::choice("statistic", std::move(names), "all", "all that were swept, or one");
}

Panel panel_of(const StatisticName& statistic, const SweepResult& result, std::int64_t head,
               std::int64_t first_layer, Figure& figure) {
  Panel panel;
  panel.x.label = panel.x.key = "layer";
  panel.y.label = std::string(statistic.title);
  const std::string name(statistic.name);
  const auto first = static_cast<double>(first_layer);
  const std::vector<SweptSeriesLook> looks = looks_of_series(result);
  std::set<std::pair<std::size_t, std::vector<double>>> drawn;  // model and means
  std::size_t layers = 1;
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const SweepSeries& series = result.series[s];
    Line mean;
    mean.label = looks[s].label;
    mean.keys = {{"model", series.label}};
    mean.colour = subject_colour(looks[s].model);
    mean.marker = subject_marker(looks[s].model);
    Band band;
    band.keys = mean.keys;
    band.colour = with_alpha(mean.colour, 45);
    for (std::size_t l = 0; l < series.layers.size(); ++l) {
      const auto found = series.layers[l].statistics.find(name);
      if (found == series.layers[l].statistics.end()) continue;
      const SweptStatistic swept = swept_statistic(found->second, head);
      if (swept.count == 0) continue;
      layers = std::max(layers, series.layers.size());
      const auto x = first + static_cast<double>(l);
      mean.x.push_back(x);
      mean.y.push_back(swept.mean);
      if (swept.count > 1) {
        band.x.push_back(x);
        // The band stays within what was measured: a share is never below 0.
        band.low.push_back(std::max(swept.least, swept.mean - swept.standard_deviation));
        band.high.push_back(std::min(swept.greatest, swept.mean + swept.standard_deviation));
      }
      figure.numbers["mean/" + name + "/" + series.label].push_back(swept.mean);
      figure.numbers["standard_deviation/" + name + "/" + series.label].push_back(
          swept.standard_deviation);
      figure.numbers["least/" + name + "/" + series.label].push_back(swept.least);
      figure.numbers["greatest/" + name + "/" + series.label].push_back(swept.greatest);
    }
    // Quantities of the maps themselves do not depend on I and are drawn once per model.
    if (mean.x.empty() || !drawn.insert({looks[s].model, mean.y}).second) continue;
    panel.marks.emplace_back(std::move(band));
    panel.marks.emplace_back(std::move(mean));
  }
  panel.x.minimum = first - 0.3;
  panel.x.maximum = first + static_cast<double>(layers) - 0.7;
  panel.x.ticks = layer_ticks(static_cast<std::int64_t>(layers), first_layer);
  return panel;
}

Figure make_sweep_quantities(const FigureRequest& request, const Progress&) {
  constexpr std::size_t kColumns = 2;
  const Settings read(request);
  const SweepResult result = sweep_shown(read);
  const std::int64_t head = head_shown(read, result);
  Figure figure;
  const auto statistics = statistics_in(result, read.text("statistic"));
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    Panel panel = panel_of(statistics[i], result, head, request.first_layer, figure);
    panel.row = static_cast<std::int64_t>(i / kColumns);
    panel.column = static_cast<std::int64_t>(i % kColumns);
    figure.panels.push_back(std::move(panel));
  }
  for (Panel& panel : figure.panels) panel.legend = LegendPosition::below;
  figure.shared_legend = true;
  const std::size_t rows = (statistics.size() + kColumns - 1) / kColumns;
  const double share = statistics.size() == 1 ? 0.62 : 0.42;
  figure.height_mm = share * request.width_mm * static_cast<double>(rows) + 5 +
                     legend_mm(figure, request.width_mm);
  figure.caption = "Mean and one standard deviation (within least and greatest) over " +
                   sweep_in_words(result) +
                   (head < 0 ? ", all heads. " : ", head " + std::to_string(head) + ". ") +
                   status_of_swept_models(result) + made_with();
  return figure;
}

}  // namespace

FigureRecipe sweep_quantities_recipe() {
  return {.name = "sweep-quantities",
          .title = "Maps, hash codes and importances over many inputs",
          .source = "EcoFormer, 4; Fastformer-LM, Eq. 4",
          .question = FigureQuestion::inputs,
          .has_panel = true,
          .settings = {sweep_file_setting(), statistic_setting(), sweep_head_setting()},
          .needs = sweep_needs,
          .make = make_sweep_quantities};
}

}  // namespace attnscope
