// Spectra beside a reference's: mean curves over relative rank, and their distance by layer.
#include <algorithm>
#include <cmath>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/labels.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/compared_subjects.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_room.h"
#include "analysis/figure/ticks.h"
#include "analysis/spectrum/rank.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

/// Where maps of every size are read: 0, 0.005, … 1.
constexpr std::size_t kSteps = 200;

/// The mean over maps of f at each share of the ranks; empty if no map has a spectrum.
std::vector<double> mean_curve(const std::vector<MapSpectrum>& spectra) {
  std::vector<double> sums(kSteps + 1);
  std::int64_t maps = 0;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) continue;
    std::vector<double> share = cumulative_share(spectrum.singular_values);
    share.insert(share.begin(), 0);
    for (std::size_t i = 0; i <= kSteps; ++i) {
      const double at = static_cast<double>(i) / kSteps * static_cast<double>(share.size() - 1);
      const auto below = std::min(static_cast<std::size_t>(at), share.size() - 2);
      const double way = at - static_cast<double>(below);
      sums[i] += share[below] + way * (share[below + 1] - share[below]);
    }
    ++maps;
  }
  if (maps == 0) return {};
  for (double& sum : sums) sum /= static_cast<double>(maps);
  return sums;
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
  line.y = mean_curve(spectra_of(*request.subjects[subject].trace, options.view, {}, progress));
  for (std::size_t i = 0; i < line.y.size(); ++i) line.x.push_back(static_cast<double>(i) / kSteps);
  return line;
}

Figure make_spectrum_comparison(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const LegendPosition legend = legend_of(read);
  const ComparedSubjects compared = compared_subjects(request, progress.part(0, 0.6));
  const PanelSplit split = split_for(request.width_mm);
  Figure figure;
  Panel curves, by_layer = by_layer_panel(compared, split);
  const std::vector<std::string> labels = short_labels(request);
  const double share = 0.4 / static_cast<double>(request.subjects.size());
  for (std::size_t subject = 0; subject < request.subjects.size(); ++subject) {
    const double first = 0.6 + share * static_cast<double>(subject);
    curves.marks.emplace_back(curve_of(request, subject, labels[subject],
                                       subject == compared.reference, compared.options,
                                       progress.part(first, first + share)));
  }
  curves.letter = "a";
  curves.x.label = "relative rank r / N";
  curves.y.label = "cumulative share f";
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
      "Spectra of attention maps: a, cumulative share of the singular values over relative rank, "
      "mean over all maps; b, the area between a map's curve and its counterpart's, points are "
      "heads, lines their means: " +
      comparison_in_words(request, compared) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe spectrum_comparison_recipe() {
  return {.name = "spectrum-comparison",
          .title = "Spectra beside a reference's",
          .source = "Adder, Eq. 21",
          .settings = comparison_settings(),
          .needs = comparison_needs,
          .make = make_spectrum_comparison};
}

}  // namespace attnscope
