// Figure of the distribution of equivalent ranks over many inputs, by layer.
#include <algorithm>
#include <array>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/sweep_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/sweep/sweep_summary.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Quantiles of the bands: 5, 25 → 0.05, 0.25.
std::vector<double> band_quantiles(const Settings& read) {
  if (read.is("bands", "none")) return {};
  std::vector<double> quantiles = read.numbers("bands");
  for (double& quantile : quantiles) quantile /= 100;
  return quantiles;
}

Figure make_sweep_ranks(const FigureRequest& request, const Progress&) {
  constexpr int kBandAlpha = 45;
  constexpr double kMedian = 0.5;
  const Settings read(request);
  const SweepResult result = sweep_shown(read);
  const std::int64_t head = head_shown(read, result);
  const std::size_t threshold =
      read.is("threshold", "first") ? 0 : find_threshold(result, read.number("threshold"));
  const std::vector<double> quantiles = band_quantiles(read);

  Figure figure;
  Panel panel;
  const auto first = static_cast<double>(request.first_layer);
  const std::vector<SweptSeriesLook> looks = looks_of_series(result);
  std::size_t layers = 1;
  double highest = 1;
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const SweepSeries& series = result.series[s];
    const Colour colour = subject_colour(looks[s].model);
    std::vector<Band> bands(quantiles.size());
    Line median;
    median.label = looks[s].label;
    median.keys = {{"model", series.label}};
    for (std::size_t q = 0; q < quantiles.size(); ++q) {
      bands[q].keys = {{"model", series.label}, {"quantile", rounded_text(quantiles[q])}};
    }
    median.colour = colour;
    median.style = series.identity ? LineStyle::dashed : LineStyle::solid;
    median.marker = subject_marker(looks[s].model);
    layers = std::max(layers, series.layers.size());
    for (std::size_t l = 0; l < series.layers.size(); ++l) {
      if (head >= series.layers[l].heads) continue;
      const SweptRanks ranks = swept_ranks(series.layers[l], head, threshold);
      if (ranks.maps == 0) continue;
      const auto x = first + static_cast<double>(l);
      for (std::size_t q = 0; q < quantiles.size(); ++q) {
        bands[q].x.push_back(x);
        bands[q].low.push_back(ranks.quantile(quantiles[q]));
        bands[q].high.push_back(ranks.quantile(1 - quantiles[q]));
        bands[q].colour = with_alpha(colour, kBandAlpha);
        highest = std::max(highest, bands[q].high.back());
        const std::string percent = rounded_text(100 * quantiles[q]);
        figure.numbers["low_" + percent + "/" + series.label].push_back(bands[q].low.back());
        figure.numbers["high_" + percent + "/" + series.label].push_back(bands[q].high.back());
      }
      median.x.push_back(x);
      median.y.push_back(ranks.quantile(kMedian));
      highest = std::max(highest, median.y.back());
      figure.numbers["median/" + series.label].push_back(median.y.back());
      figure.numbers["mean/" + series.label].push_back(ranks.mean);
      figure.numbers["standard_deviation/" + series.label].push_back(ranks.standard_deviation);
      figure.numbers["maps/" + series.label].push_back(static_cast<double>(ranks.maps));
    }
    for (Band& band : bands) panel.marks.emplace_back(std::move(band));
    panel.marks.emplace_back(std::move(median));
  }
  panel.x.label = panel.x.key = "layer";
  panel.x.minimum = first - 0.3;
  panel.x.maximum = first + static_cast<double>(layers) - 0.7;
  panel.x.ticks = layer_ticks(static_cast<std::int64_t>(layers), request.first_layer);
  const double tau = result.thresholds.empty() ? 0 : result.thresholds[threshold];
  panel.y.label = "equivalent rank (" + to_string(RankThreshold(tau, result.share)) + ")";
  panel.y.minimum = 0;
  panel.y.maximum = 1.05 * highest;
  panel.legend = legend_of(read);
  figure.panels.push_back(std::move(panel));

  std::string described;
  for (const double q : quantiles) {
    described += (described.empty() ? " Bands: " : ", ") + rounded_text(100 * q) + " to " +
                 rounded_text(100 - 100 * q) + " %";
  }
  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption = "Equivalent ranks of single " + in_words(result.numbers.analysed) +
                   ", median over " + sweep_in_words(result) +
                   (head < 0 ? ", all heads." : ", head " + std::to_string(head) + ".") +
                   described + (described.empty() ? " " : " of the maps. ") +
                   status_of_swept_models(result) + made_with();
  return figure;
}

}  // namespace

FigureRecipe sweep_ranks_recipe() {
  return {.name = "sweep-ranks",
          .title = "Ranks over many inputs",
          .source = "Adder, 3.2.2",
          .question = FigureQuestion::inputs,
          .has_panel = true,
          .settings = {sweep_file_setting(), sweep_head_setting(),
                       setting::number("threshold", 0.9, {0, 1},
                                       "τ, one of those swept for, or the first of them")
                           .or_word({"first"})
                           .by_default("first"),
                       setting::numbers("bands", {5, 25}, {0, 49.999},
                                        "quantiles: a band from each to its counterpart")
                           .or_word({"none"})
                           .in("%"),
                       legend_setting(true)},
          .needs = sweep_needs,
          .make = make_sweep_ranks};
}

}  // namespace attnscope
