// Figure of ranks compared with a reference: map against map, and the difference by layer.
#include <algorithm>
#include <cmath>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/compared_subjects.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/matrix/analysed_matrix.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

Line points_of(const ComparedSubject& other) {
  Line points;
  points.label = other.shown;
  points.keys = {{"model", other.label}};
  points.colour = subject_colour(other.subject);
  points.style = LineStyle::none;
  points.marker = subject_marker(other.subject);
  for (const ComparedMap& map : other.comparison.maps) {
    if (std::isnan(map.values[Quantity::rank])) continue;
    points.x.push_back(map.values[Quantity::reference_rank]);
    points.y.push_back(map.values[Quantity::rank]);
  }
  return points;
}

Figure make_rank_comparison(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const LegendPosition legend = legend_of(read);
  const ComparedSubjects compared = compared_subjects(request, progress);
  const std::string& reference = compared.reference_shown;
  const PanelSplit split = split_for(request.width_mm);

  Figure figure;
  Panel pairs, by_layer = by_layer_panel(compared, split);
  double longest = 1;
  for (const ComparedSubject& other : compared.others) {
    Line points = points_of(other);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      longest = std::max({longest, points.x[i], points.y[i]});
    }
    figure.numbers["reference_rank/" + other.label] = points.x;
    figure.numbers["rank/" + other.label] = points.y;
    pairs.marks.emplace_back(std::move(points));
    constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dash_dotted};
    figure.numbers["rank_difference_by_layer/" + other.label] = add_by_layer(
        by_layer, other, request.first_layer, Quantity::rank_difference, styles[other.subject % 3]);
    figure.numbers["mean_rank_difference/" + other.label] = {
        other.comparison.mean[Quantity::rank_difference]};
  }
  // Rounded up, so that the axes end with a labelled tick.
  const double unit = std::pow(10.0, std::floor(std::log10(longest)));
  longest = std::ceil(longest * 1.02 / unit * 2) / 2 * unit;
  Line equal;
  equal.label = "equal ranks";
  equal.x = equal.y = {0, longest};
  equal.colour = neutral_colour;
  equal.style = LineStyle::dotted;
  pairs.marks.emplace_back(std::move(equal));
  pairs.letter = "a";
  const MatrixChoice& analysed = compared.options.analysed;
  const bool of_maps = analysed.is_plain_map();
  pairs.x.label = "rank of " + reference + (of_maps ? "" : ", " + short_words(analysed)) + " (" +
                  to_string(compared.options.threshold) + ")";
  pairs.y.label = of_maps ? "rank of the compared map" : "rank of the compared";
  pairs.x.minimum = pairs.y.minimum = 0;
  pairs.x.maximum = pairs.y.maximum = longest;
  pairs.x.ticks = pairs.y.ticks = ticks_up_to(longest);
  pairs.legend = legend;

  by_layer.y.label = "rank − rank of the reference";
  by_layer.marks.insert(by_layer.marks.begin(),
                        Rule{0, false, "", neutral_colour, LineStyle::dotted});
  figure.panels = {std::move(pairs), std::move(by_layer)};
  figure.height_mm = split.height_mm + legend_mm(figure, request.width_mm);
  figure.caption = "Equivalent ranks (" + to_string(compared.options.threshold) + ") of " +
                   in_words(analysed) + ": a, each" + (of_maps ? " map" : "") +
                   " against its counterpart in the reference; b, the "
                   "difference by layer, points are heads, lines their means: " +
                   comparison_in_words(request, compared) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe rank_comparison_recipe() {
  return {.name = "rank-comparison",
          .title = "Ranks compared with a reference",
          .question = FigureQuestion::models,
          .settings = comparison_settings(),
          .needs = compared_curves_needs,
          .make = make_rank_comparison};
}

}  // namespace attnscope
