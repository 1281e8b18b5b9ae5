// Figure of cumulative singular values over many inputs: the protocol of Adder, Fig. 2.
#include <algorithm>
#include <array>

#include "analysis/baselines/null_model.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/sweep_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/rank.h"
#include "analysis/sweep/sweep_summary.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::vector<double> zero_to(std::size_t count) {
  std::vector<double> list(count + 1);
  for (std::size_t index = 0; index <= count; ++index) list[index] = static_cast<double>(index);
  return list;
}

/// Adds the point at rank 0: f(0) is an empty sum.
std::vector<double> from_zero(std::vector<double> values) {
  values.insert(values.begin(), 0);
  return values;
}

Band deviation_band(const SweptSpectrum& spectrum, Colour colour) {
  Band band;
  band.x = zero_to(spectrum.mean_share.size());
  for (std::size_t r = 0; r < spectrum.mean_share.size(); ++r) {
    const double mean = spectrum.mean_share[r], deviation = spectrum.standard_deviation[r];
    band.low.push_back(std::max(0.0, mean - deviation));
    band.high.push_back(std::min(1.0, mean + deviation));
  }
  band.low = from_zero(std::move(band.low));
  band.high = from_zero(std::move(band.high));
  band.colour = with_alpha(colour, 40);
  return band;
}

bool has_null_spectra(const SweepSeries& series) {
  return !series.layers.empty() && std::ranges::all_of(series.layers, &LayerSweep::null_spectra);
}

/// Adds the null models, maps without structure, in grey behind the curves. Throws Error(usage) if
/// the sweep did not keep their spectra.
void add_swept_null(Figure& figure, Panel& panel, const SweepSeries& series,
                    const std::vector<std::int64_t>& layers, const std::vector<std::int64_t>& heads,
                    double threshold) {
  const SweptSpectrum null = swept_null_spectrum(series, layers, heads, threshold);
  if (null.maps == 0) return;
  Band band = deviation_band(null, neutral_colour);
  band.colour = with_alpha(neutral_colour, 70);
  const bool labelled = std::ranges::any_of(panel.marks, [](const Mark& mark) {
    const auto* const other = std::get_if<Band>(&mark);
    return other != nullptr && !other->label.empty();
  });
  band.label = labelled ? "" : "rows shuffled";
  band.name = series.label + ", rows shuffled";
  band.keys = {{"model", series.label}};
  panel.marks.insert(panel.marks.begin(), std::move(band));
  figure.numbers["null_mean_share/" + series.label] = null.mean_share;
  figure.numbers["null_standard_deviation/" + series.label] = null.standard_deviation;
  figure.numbers["null_equivalent_rank/" + series.label] = {static_cast<double>(null.rank_of_mean)};
}

Figure make_sweep_spectrum(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const SweepResult result = sweep_shown(read);
  const double threshold = read.number("threshold");
  const bool spread = read.is("spread", "deviation");
  const bool kept = std::ranges::all_of(result.series, has_null_spectra);
  const bool with_null = read.is("null", "shuffled") || (read.is("null", "auto") && kept);

  Figure figure;
  Panel panel = cumulative_share_panel(read, result.share);
  panel.marks.emplace_back(
      Rule{threshold, false, "τ = " + rounded_text(threshold), neutral_colour, LineStyle::dotted});
  const std::vector<SweptSeriesLook> looks = looks_of_series(result);
  std::size_t longest = 1;
  std::int64_t left_out = 0;
  for (std::size_t s = 0; s < result.series.size(); ++s) {
    const SweepSeries& series = result.series[s];
    const auto layers = static_cast<std::int64_t>(series.layers.size());
    const std::vector<std::int64_t> chosen_layers = read.indices("layer", layers),
                                    chosen_heads = read.indices(
                                        "head", layers > 0 ? series.layers.front().heads : 0);
    const SweptSpectrum spectrum = swept_spectrum(series, chosen_layers, chosen_heads, threshold);
    if (with_null) {
      add_swept_null(figure, panel, series, chosen_layers, chosen_heads, threshold);
    }
    left_out += spectrum.left_out;
    longest = std::max(longest, spectrum.mean_share.size());
    if (spectrum.maps == 0) continue;
    const Colour colour = subject_colour(looks[s].model);
    const Keys keys = {{"model", series.label}};
    if (spread && spectrum.maps > 1) {
      panel.marks.emplace_back(deviation_band(spectrum, colour));
      std::get<Band>(panel.marks.back()).keys = keys;
    }
    Line line;
    line.label = looks[s].label;
    line.keys = keys;
    line.x = zero_to(spectrum.mean_share.size());
    line.y = from_zero(spectrum.mean_share);
    line.colour = colour;
    line.style = series.identity ? LineStyle::dashed : LineStyle::solid;
    panel.marks.emplace_back(std::move(line));
    const auto rank = static_cast<double>(spectrum.rank_of_mean);
    panel.marks.emplace_back(
        PointMark{rank, spectrum.mean_share.at(static_cast<std::size_t>(spectrum.rank_of_mean - 1)),
                  "r = " + std::to_string(spectrum.rank_of_mean), colour, true, keys});
    figure.numbers["equivalent_rank/" + series.label] = {rank};
    figure.numbers["mean_share/" + series.label] = spectrum.mean_share;
    figure.numbers["standard_deviation/" + series.label] = spectrum.standard_deviation;
    figure.numbers["maps/" + series.label] = {static_cast<double>(spectrum.maps)};
  }
  Line even;
  even.label = "g(r) = r / N";
  even.x = zero_to(longest);
  even.y = from_zero(linear_share(static_cast<std::int64_t>(longest)));
  even.colour = neutral_colour;
  even.style = LineStyle::dotted;
  even.width_pt = 0.8;
  panel.marks.emplace_back(std::move(even));
  panel.x.minimum = 0;
  panel.x.maximum = static_cast<double>(longest);
  panel.x.ticks = ticks_up_to(static_cast<double>(longest));
  figure.panels.push_back(std::move(panel));

  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption = "Cumulative normalised singular values f(r) of the " +
                   in_words(result.numbers.analysed) + ", mean over " + sweep_in_words(result) +
                   ", " + chosen("layer", layers_written(request, "layer")) + " and " +
                   chosen("head", read.written("head")) +
                   (spread ? ", with one standard deviation over maps" : "") +
                   ". Marked: the equivalent rank of the mean curve, the smallest r with f(r) ≥ " +
                   rounded_text(threshold) + " (f: share of " + symbol_of(result.share) +
                   "). Dotted: g(r) = r/N, a map of equal singular values. ";
  if (with_null) {
    figure.caption +=
        "Grey: the same maps with the entries of each row in another order (of the keys "
        "that the query sees), " +
        std::to_string(kShuffles) + " times each, mean and one standard deviation. ";
  }
  if (left_out > 0) {
    figure.caption += std::to_string(left_out) + " maps without a spectrum were left out. ";
  }
  figure.caption += status_of_swept_models(result) + made_with();
  return figure;
}

}  // namespace

FigureRecipe sweep_spectrum_recipe() {
  return {.name = "sweep-spectrum",
          .title = "Cumulative singular values over many inputs",
          .source = "Adder, Fig. 2",
          .question = FigureQuestion::inputs,
          .has_panel = true,
          .settings = {sweep_file_setting(), indices_setting("layer", "layers averaged"),
                       indices_setting("head", "heads averaged"), threshold_setting(),
                       setting::choice("spread", {"deviation", "none"}, "deviation",
                                       "a band of one standard deviation over maps"),
                       setting::choice("null", {"auto", "shuffled", "none"}, "auto",
                                       "a grey band of the maps with their rows "
                                       "shuffled, of sweeps with null models"),
                       legend_setting(true)},
          .needs = sweep_needs,
          .make = make_sweep_spectrum};
}

}  // namespace attnscope
