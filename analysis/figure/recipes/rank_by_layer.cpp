// Figure of the rank of each layer's maps: the mean over heads, and the heads.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/spectrum/spectrum.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr double kNoRank = std::numeric_limits<double>::quiet_NaN();

enum class Measure { equivalent, effective, stable, numerical };
constexpr EnumName<Measure> measure_names[] = {{Measure::equivalent, "equivalent"},
                                               {Measure::effective, "effective"},
                                               {Measure::stable, "stable"},
                                               {Measure::numerical, "numerical"}};
enum class RankSpread { heads, range, none };
constexpr EnumName<RankSpread> spread_names[] = {
    {RankSpread::heads, "heads"}, {RankSpread::range, "range"}, {RankSpread::none, "none"}};

double measured(const MapSpectrum& map, Measure measure) {
  switch (measure) {
    case Measure::equivalent:
      return static_cast<double>(map.equivalent_rank);
    case Measure::effective:
      return map.effective_rank;
    case Measure::stable:
      return map.stable_rank;
    case Measure::numerical:
      return map.numerical_rank > 0 ? static_cast<double>(map.numerical_rank) : kNoRank;
  }
  return 0;
}

struct RankOfHead {
  std::int64_t head = 0;
  double rank = 0;
};
/// Known ranks of the maps of every layer.
using RanksByLayer = std::map<std::int64_t, std::vector<RankOfHead>>;

/// Adds the known ranks; returns the number of maps without one.
std::size_t add_ranks(const std::vector<MapSpectrum>& maps, Measure measure, RanksByLayer& ranks) {
  std::size_t without = 0;
  for (const MapSpectrum& map : maps) {
    const double rank = map.state == SpectrumState::ready ? measured(map, measure) : kNoRank;
    if (std::isnan(rank)) {
      ++without;
    } else {
      ranks[map.layer].push_back({map.head, rank});
    }
  }
  return without;
}

struct RankSeries {
  std::string label, shown;  ///< label in numbers; label in the legend
  std::int64_t first_layer = 0;
  Colour colour;
  MarkerShape marker = MarkerShape::circle;
  LineStyle style = LineStyle::solid;
};

void add_series(Figure& figure, Panel& panel, const RankSeries& series, RankSpread spread,
                const RanksByLayer& ranks) {
  Line means;
  std::map<std::int64_t, Line> heads;  // one line per head, so that tables tell them apart
  Band band;
  means.keys = band.keys = {{"model", series.label}};
  for (const auto& [layer, values] : ranks) {
    const auto x = static_cast<double>(layer + series.first_layer);
    double sum = 0;
    for (const auto& [head, rank] : values) {
      sum += rank;
      heads[head].x.push_back(x);
      heads[head].y.push_back(rank);
    }
    means.x.push_back(x);
    means.y.push_back(sum / static_cast<double>(values.size()));
    const auto [least, greatest] = std::ranges::minmax(values, {}, &RankOfHead::rank);
    band.x.push_back(x);
    band.low.push_back(least.rank);
    band.high.push_back(greatest.rank);
  }
  if (spread == RankSpread::range) {
    band.colour = with_alpha(series.colour, 40);
    band.name = series.label + ", least and greatest head";
    panel.marks.emplace_back(std::move(band));
  } else if (spread == RankSpread::heads) {
    for (auto& [head, points] : heads) {
      points.name = series.label + ", head " + std::to_string(head);
      points.keys = {{"model", series.label}, {"head", std::to_string(head)}};
      points.style = LineStyle::none;
      points.marker = series.marker;
      points.colour = with_alpha(series.colour, 90);
      panel.marks.emplace_back(std::move(points));
    }
  }
  means.label = series.shown;
  means.colour = series.colour;
  means.style = series.style;
  means.marker = series.marker;
  figure.numbers["mean_rank_by_layer/" + series.label] = means.y;
  panel.marks.emplace_back(std::move(means));
}

/// Adds the bound of the rank, if the mechanism has one, as a thin line over the layers.
void add_bounds(Figure& figure, Panel& panel, const RankSeries& series,
                const std::map<std::int64_t, std::int64_t>& bounds) {
  if (bounds.empty()) return;
  Line line;
  line.name = series.label + ", bound of the rank";
  line.keys = {{"model", series.label}};
  for (const auto& [layer, bound] : bounds) {
    line.x.push_back(static_cast<double>(layer + series.first_layer));
    line.y.push_back(static_cast<double>(bound));
  }
  line.colour = series.colour;
  line.style = LineStyle::dash_dotted;
  line.width_pt = 0.7;
  figure.numbers["rank_bound_by_layer/" + series.label] = line.y;
  panel.marks.emplace_back(std::move(line));
}

/// Makes the axis logarithmic, with ticks 1, 2, 5, 10, … around the values of `panel`.
void make_logarithmic(Panel& panel) {
  double least = std::numeric_limits<double>::infinity(), greatest = 1;
  for (const Mark& mark : panel.marks) {
    const auto* const line = std::get_if<Line>(&mark);
    const auto* const band = std::get_if<Band>(&mark);
    for (const double value : line ? line->y : band ? band->low : std::vector<double>{}) {
      least = std::min(least, value);
    }
    for (const double value : line ? line->y : band ? band->high : std::vector<double>{}) {
      greatest = std::max(greatest, value);
    }
  }
  panel.y.logarithmic = true;
  panel.y.minimum = std::max(1.0, least) / 1.2;
  panel.y.maximum = 1.2 * greatest;
  for (double decade = 1; decade <= greatest; decade *= 10) {
    for (const double step : {1, 2, 5}) {
      const double tick = step * decade;
      if (tick < *panel.y.minimum || tick > *panel.y.maximum) continue;
      panel.y.ticks.push_back({tick, rounded_text(tick)});
    }
  }
}

/// True if a rank that all are shown with would hide the differences of the lower ones, as the
/// ranks of A + I do with those of A.
bool spans_much(const Figure& figure) {
  constexpr double kMuch = 4;
  std::vector<double> means;
  for (const auto& [name, ranks] : figure.numbers) {
    if (!name.starts_with("mean_rank_by_layer/") || ranks.empty()) continue;
    means.push_back(std::accumulate(ranks.begin(), ranks.end(), 0.0) /
                    static_cast<double>(ranks.size()));
  }
  if (means.empty()) return false;
  const auto [least, greatest] = std::ranges::minmax(means);
  return least >= 1 && greatest > kMuch * least;
}

std::string axis_label(Measure measure, const RankThreshold& threshold) {
  switch (measure) {
    case Measure::equivalent:
      return "equivalent rank (" + to_string(threshold) + ")";
    case Measure::effective:
      return "effective rank";
    case Measure::stable:
      return "stable rank";
    case Measure::numerical:
      return "numerical rank";
  }
  return {};
}

Figure make_rank_by_layer(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Measure measure = read.choice("measure", measure_names);
  const RankSpread spread = read.choice("spread", spread_names);
  const std::vector<MatrixChoice> views = analysed_views(read);
  SpectrumOptions options;
  options.threshold = threshold_of(read);
  // The numerical rank depends on small singular values, which must be exact.
  if (measure == Measure::numerical) options.accuracy = SpectrumAccuracy::every_value;

  options.method = read.choice("method", spectrum_method_names);

  Figure figure;
  Panel panel;
  std::vector<MapSpectrum> all_maps;
  std::int64_t layers = 0;
  for (const Subject& subject : request.subjects) {
    layers = std::max(layers, static_cast<std::int64_t>(subject.trace->layers.size()));
  }
  panel.x.label = panel.x.key = "layer";
  const auto first = static_cast<double>(request.first_layer);
  panel.x.minimum = first - 0.35;
  panel.x.maximum = first + static_cast<double>(layers) - 0.65;
  panel.x.ticks = layer_ticks(layers, request.first_layer);
  panel.y.label = axis_label(measure, options.threshold);
  panel.y.minimum = 0;
  panel.legend = legend_of(read);

  const std::vector<SubjectGroup> groups = subject_groups(request, averages_inputs(read));
  const auto runs = static_cast<double>(request.subjects.size() * views.size());
  double done = 0;
  std::size_t without_rank = 0;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    for (const MatrixChoice& analysed : views) {
      RanksByLayer ranks;
      std::map<std::int64_t, std::int64_t> bounds;
      for (const std::size_t member : groups[index].subjects) {
        const std::vector<MapSpectrum> maps = subject_spectra(
            request, member, analysed, options, progress.part(done / runs, (done + 1) / runs));
        without_rank += add_ranks(maps, measure, ranks);
        all_maps.insert(all_maps.end(), maps.begin(), maps.end());
        for (const MapSpectrum& map : maps) {
          if (map.rank_bound == 0) continue;
          std::int64_t& bound = bounds[map.layer];
          bound = std::max(bound, map.rank_bound);
        }
        ++done;
      }
      const Trace& trace = *request.subjects[groups[index].subjects.front()].trace;
      RankSeries series;
      series.first_layer = request.first_layer;
      const bool with = shows_identity(trace, analysed);
      series.label = seen_label(groups[index].label, with);
      series.shown = seen_label(groups[index].short_label, with);
      series.colour = subject_colour(index);
      series.marker = subject_marker(index);
      series.style = with ? LineStyle::dashed : LineStyle::solid;
      add_series(figure, panel, series, spread, ranks);
      add_bounds(figure, panel, series, bounds);
    }
  }
  if (read.is("scale", "log") || (read.is("scale", "auto") && spans_much(figure))) {
    make_logarithmic(panel);
  }
  figure.panels.push_back(std::move(panel));
  figure.title = "Rank of attention maps by layer";
  figure.height_mm = 0.58 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption = "Mean " + axis_label(measure, options.threshold) + " of the " +
                   in_words(views.front()) + ", layer by layer";
  if (spread == RankSpread::heads) figure.caption += "; points are single heads";
  if (spread == RankSpread::range)
    figure.caption += "; bands reach from the least to the greatest head";
  figure.caption += ": " + subjects_in_words(request) + ". ";
  if (std::any_of(all_maps.begin(), all_maps.end(),
                  [](const MapSpectrum& map) { return map.rank_bound > 0; })) {
    figure.caption += views.front().of == MatrixKind::map
                          ? "Dash-dotted: the bound of the rank that the mechanism sets. "
                          : "Dash-dotted: the bound of the rank that the shape sets. ";
  }
  figure.caption += methods_in_words(all_maps);
  if (without_rank > 0) {
    figure.caption +=
        std::to_string(without_rank) + " maps whose rank is not known were left out. ";
  }
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe rank_by_layer_recipe() {
  return {
      .name = "rank-by-layer",
      .title = "Rank of attention maps by layer",
      .source = "Adder, Section 3.2.2",
      .question = FigureQuestion::rank,
      .has_panel = true,
      .settings = {setting::choice("measure", names_of(measure_names), "equivalent",
                                   "the rank shown"),
                   identity_setting("both"), threshold_setting(), share_setting(), inputs_setting(),
                   setting::choice("spread", names_of(spread_names), "heads",
                                   "a point a head, a band from least to greatest, or none"),
                   setting::choice("scale", {"auto", "linear", "log"}, "auto",
                                   "scale of the ranks; auto: logarithmic where some are more "
                                   "than four times as high as others, as of A + I and A"),
                   of_setting(), centred_setting(), added_setting(), spectrum_method_setting(),
                   legend_setting()},
      .needs = {.vectors = true},
      .make = make_rank_by_layer};
}

}  // namespace attnscope
