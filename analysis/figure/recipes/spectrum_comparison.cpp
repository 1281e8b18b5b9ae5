// Figure of spectra compared with a reference: mean curves over relative rank, and their distance
// by layer.
#include <algorithm>
#include <cmath>

#include "analysis/baselines/null_model.h"
#include "analysis/comparison/comparison.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/compared_subjects.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/rank.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

/// Number of intervals of relative rank, at which maps of any size are sampled: 0, 0.005, … 1.
constexpr std::size_t kSteps = 200;

/// f at each sample of relative rank, interpolated linearly.
std::vector<double> curve_over_shares(const MapSpectrum& spectrum) {
  std::vector<double> share = cumulative_share(spectrum, spectrum.threshold.of);
  share.insert(share.begin(), 0);
  std::vector<double> curve;
  for (std::size_t i = 0; i <= kSteps; ++i) {
    const double at = static_cast<double>(i) / kSteps * static_cast<double>(share.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), share.size() - 2);
    const double way = at - static_cast<double>(below);
    curve.push_back(share[below] + way * (share[below + 1] - share[below]));
  }
  return curve;
}

/// Mean of f over maps at each sample of relative rank; empty if no map has a spectrum.
std::vector<double> mean_curve(const std::vector<MapSpectrum>& spectra) {
  std::vector<double> sums(kSteps + 1);
  std::int64_t maps = 0;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) continue;
    const std::vector<double> curve = curve_over_shares(spectrum);
    for (std::size_t i = 0; i <= kSteps; ++i) sums[i] += curve[i];
    ++maps;
  }
  if (maps == 0) return {};
  for (double& sum : sums) sum /= static_cast<double>(maps);
  return sums;
}

/// Adds the range of the curves of the subject's maps with shuffled rows, as a grey band behind the
/// other curves.
void add_null_models(Figure& figure, Panel& panel, const Subject& subject,
                     const ComparisonOptions& options, bool labelled, const Progress& progress) {
  check_null_models(options.analysed);
  Band band;
  double ranks = 0, maps = 0;
  for (const NullRanks& null :
       null_ranks(*subject.trace, options.analysed, {.threshold = options.threshold}, progress)) {
    if (!null.known) continue;
    ranks += null.rank;
    ++maps;
    for (const MapSpectrum& shuffled : null.shuffled) {
      const std::vector<double> curve = curve_over_shares(shuffled);
      if (band.low.empty()) band.low = band.high = curve;
      for (std::size_t i = 0; i <= kSteps; ++i) {
        band.low[i] = std::min(band.low[i], curve[i]);
        band.high[i] = std::max(band.high[i], curve[i]);
      }
    }
  }
  if (maps == 0) return;
  for (std::size_t i = 0; i <= kSteps; ++i) band.x.push_back(static_cast<double>(i) / kSteps);
  band.label = labelled ? "rows shuffled" : "";
  band.colour = with_alpha(neutral_colour, 70);
  band.name = subject.label + ", rows shuffled, least and greatest";
  band.keys = {{"model", subject.label}};
  panel.marks.insert(panel.marks.begin(), std::move(band));
  figure.numbers["null_rank_mean_of_maps/" + subject.label] = {ranks / maps};
}

Line curve_of(const FigureRequest& request, std::size_t subject, const std::string& label,
              bool is_reference, const ComparisonOptions& options, const Progress& progress) {
  Line line;
  line.label = label + (is_reference ? " (reference)" : "");
  line.keys = {{"model", request.subjects[subject].label}};
  line.colour = subject_colour(subject);
  constexpr LineStyle styles[] = {LineStyle::dashed, LineStyle::dash_dotted, LineStyle::dotted};
  line.style = is_reference ? LineStyle::solid : styles[subject % 3];
  line.width_pt = is_reference ? 1.4 : 1.0;
  line.y = mean_curve(spectra_of(request.subjects[subject], options.analysed,
                                 {.threshold = options.threshold}, progress));
  for (std::size_t i = 0; i < line.y.size(); ++i) line.x.push_back(static_cast<double>(i) / kSteps);
  return line;
}

Figure make_spectrum_comparison(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const LegendPosition legend = legend_of(read);
  const double begun = read.is("null", "shuffled") ? 0.2 : 0.6;
  const ComparedSubjects compared = compared_subjects(request, progress.part(0, begun));
  const PanelSplit split = split_for(request.width_mm);
  Figure figure;
  Panel curves, by_layer = by_layer_panel(compared, split);
  const std::vector<std::string> labels = short_labels(request);
  const bool with_null = read.is("null", "shuffled");
  const double share = (with_null ? 0.8 : 0.4) / static_cast<double>(request.subjects.size());
  const double own = with_null ? share / 9 : share;
  for (std::size_t subject = 0; subject < request.subjects.size(); ++subject) {
    const double first = begun + share * static_cast<double>(subject);
    curves.marks.emplace_back(curve_of(request, subject, labels[subject],
                                       subject == compared.reference, compared.options,
                                       progress.part(first, first + own)));
    if (!with_null) continue;
    const Subject& shown = request.subjects[subject];
    add_null_models(figure, curves, shown, compared.options, subject + 1 == request.subjects.size(),
                    progress.part(first + own, first + share));
  }
  curves.letter = "a";
  const MatrixChoice& analysed = compared.options.analysed;
  const bool of_maps = analysed.is_plain_map();
  curves.x.label = of_maps ? "relative rank r / N" : "relative rank r / n";
  curves.y.label = std::string("cumulative share f of ") + symbol_of(compared.options.threshold.of);
  curves.x.minimum = curves.y.minimum = 0;
  curves.x.maximum = curves.y.maximum = 1;
  curves.x.ticks = curves.y.ticks = share_ticks();
  curves.legend = legend;

  for (const ComparedSubject& other : compared.others) {
    constexpr LineStyle styles[] = {LineStyle::dashed, LineStyle::dash_dotted, LineStyle::dotted};
    figure.numbers["spectrum_distance_by_layer/" + other.label] =
        add_by_layer(by_layer, other, request.first_layer, Quantity::spectrum_distance,
                     styles[other.subject % 3]);
    figure.numbers["spectrum_distance/" + other.label] = {
        other.comparison.mean[Quantity::spectrum_distance]};
  }
  by_layer.y.label = "distance of the spectra";
  by_layer.y.minimum = 0;
  figure.panels = {std::move(curves), std::move(by_layer)};
  figure.height_mm = split.height_mm + legend_mm(figure, request.width_mm);
  figure.caption =
      "Spectra of " + in_words(analysed) +
      ": a, cumulative share of the singular values over relative rank, mean over all " +
      (of_maps ? "maps" : "of them") + "; b, the area between " + (of_maps ? "a map's" : "the") +
      " curve and its counterpart's, points are " +
      (is_of_layer(analysed.of) ? "layers" : "heads, lines their means") + ": " +
      comparison_in_words(request, compared) + ". ";
  if (with_null) {
    figure.caption +=
        "Grey: from least to greatest curve of the same maps with the entries of each "
        "row in another order (of the keys that the query sees), " +
        std::to_string(kShuffles) + " times each. ";
  }
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe spectrum_comparison_recipe() {
  std::vector<ParameterDescription> settings = comparison_settings();
  settings.push_back(setting::choice("null", {"none", "shuffled"}, "none",
                                     "shuffled: a grey band of what the maps would have with "
                                     "their rows shuffled (eight times as long)"));
  return {.name = "spectrum-comparison",
          .title = "Spectra compared with a reference",
          .source = "Adder, Eq. 21",
          .question = FigureQuestion::models,
          .settings = std::move(settings),
          .needs = compared_curves_needs,
          .make = make_spectrum_comparison};
}

}  // namespace attnscope
