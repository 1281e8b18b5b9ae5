// Ranks beside a reference's: map against map, and the difference by layer.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/number_text.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/compared_subjects.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_room.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

constexpr std::array<FigureSetting, 6> settings = {{
    reference_setting,
    align_setting,
    match_heads_setting,
    {"identity", "as-is", "as-is, without, or with (I added to every map)"},
    {"threshold", "0.9", "share of the singular values that the equivalent rank reaches, 0 to 1"},
    {"legend", "below", "below or none"},
}};

/// Every head a point; their mean a line.
void add_by_layer(Figure& figure, Panel& panel, const ComparedSubject& other) {
  const Colour colour = subject_colour(other.subject);
  Line heads, means;
  for (const ComparedMap& map : other.comparison.maps) {
    const double difference = map.values[Quantity::rank_difference];
    if (std::isnan(difference)) continue;
    heads.x.push_back(static_cast<double>(map.layer));
    heads.y.push_back(difference);
  }
  for (const ComparedLayer& layer : other.comparison.layers) {
    const double difference = layer.values[Quantity::rank_difference];
    if (std::isnan(difference)) continue;
    means.x.push_back(static_cast<double>(layer.layer));
    means.y.push_back(difference);
  }
  heads.colour = with_alpha(colour, 90);
  heads.style = LineStyle::none;
  heads.marker = subject_marker(other.subject);
  means.colour = colour;
  means.marker = heads.marker;
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dash_dotted};
  means.style = styles[other.subject % 3];
  figure.numbers["rank_difference_by_layer/" + other.label] = means.y;
  figure.numbers["mean_rank_difference/" + other.label] = {
      other.comparison.mean[Quantity::rank_difference]};
  panel.marks.emplace_back(std::move(heads));
  panel.marks.emplace_back(std::move(means));
}

Line points_of(const ComparedSubject& other) {
  Line points;
  points.label = other.label;
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

Figure make(const FigureRequest& request, const Progress& progress) {
  require_maps(request, "rank-comparison");
  const Settings read(request);
  const bool legend = read.choice("legend", {"below", "none"}) == 0;
  const ComparedSubjects compared = compared_subjects(request, progress);
  const std::string& reference = request.subjects[compared.reference].label;
  const PanelSplit split = split_for(request.width_mm);

  Figure figure;
  Panel pairs, by_layer;
  double longest = 1;
  std::int64_t layers = 0;
  for (const ComparedSubject& other : compared.others) {
    Line points = points_of(other);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      longest = std::max({longest, points.x[i], points.y[i]});
    }
    figure.numbers["reference_rank/" + other.label] = points.x;
    figure.numbers["rank/" + other.label] = points.y;
    pairs.marks.emplace_back(std::move(points));
    add_by_layer(figure, by_layer, other);
    layers = std::max(layers, std::ssize(other.comparison.layers));
  }
  // To a round number: the axes end with a labelled tick.
  const double unit = std::pow(10.0, std::floor(std::log10(longest)));
  longest = std::ceil(longest * 1.02 / unit * 2) / 2 * unit;
  Line equal;
  equal.label = "equal ranks";
  equal.x = equal.y = {0, longest};
  equal.colour = neutral_colour;
  equal.style = LineStyle::dotted;
  pairs.marks.emplace_back(std::move(equal));
  pairs.letter = "a";
  pairs.x.label =
      "rank of " + reference + " (τ = " + rounded_text(compared.options.threshold) + ")";
  pairs.y.label = "rank of the compared map";
  pairs.x.minimum = pairs.y.minimum = 0;
  pairs.x.maximum = pairs.y.maximum = longest;
  pairs.x.ticks = pairs.y.ticks = ticks_up_to(longest);
  pairs.legend = legend ? LegendPosition::below : LegendPosition::none;

  by_layer.row = split.row;
  by_layer.column = split.column;
  by_layer.letter = "b";
  by_layer.x.label = "layer";
  by_layer.x.minimum = -0.35;
  by_layer.x.maximum = static_cast<double>(layers) - 0.65;
  by_layer.x.ticks = layer_ticks(layers);
  by_layer.y.label = "rank − rank of the reference";
  by_layer.marks.insert(by_layer.marks.begin(),
                        Rule{0, false, "", neutral_colour, LineStyle::dotted});
  figure.panels = {std::move(pairs), std::move(by_layer)};
  figure.height_mm = split.height_mm + legend_mm(figure, request.width_mm);
  figure.caption =
      "Equivalent ranks (τ = " + rounded_text(compared.options.threshold) +
      ") of attention maps: a, each map against its counterpart in the reference; b, the "
      "difference by layer, points are heads, lines their means: " +
      comparison_in_words(request, compared) + ". " + made_with();
  return figure;
}

}  // namespace

extern const FigureRecipe rank_comparison_recipe = {"rank-comparison", "Ranks beside a reference's",
                                                    "", settings, make};

}  // namespace attnscope
