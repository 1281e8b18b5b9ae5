// Figure of the share of the attention that each group of tokens gets, over depth.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/group_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

constexpr int kSpreadAlpha = 40, kStackAlpha = 200;
constexpr std::size_t kLegendCharacters = 24;

/// A line of the figure: one group, or several together.
struct GroupSeries {
  std::string label;
  std::vector<std::size_t> groups;
  Colour colour;
  std::vector<double> mean, least, greatest;  ///< over the heads, one per layer
};

std::vector<double> mean_shares(const GroupedMaps& maps, std::optional<std::size_t> from) {
  std::vector<double> mean(maps.groups.size(), 0);
  for (const std::int64_t layer : maps.layers()) {
    const std::vector<double> shares = maps.shares(maps.mean_of(layer), from);
    for (std::size_t group = 0; group < mean.size(); ++group) {
      if (std::isfinite(shares[group])) mean[group] += shares[group];
    }
  }
  return mean;
}

/// The `most` groups with the greatest shares in the order of groups, and one of all others.
std::vector<GroupSeries> series_of(const GroupedMaps& maps, std::optional<std::size_t> from,
                                   std::size_t most) {
  const std::vector<double> mean = mean_shares(maps, from);
  std::vector<std::size_t> order(mean.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return mean[a] > mean[b]; });
  std::vector<std::size_t> others;
  if (order.size() > most) {
    others.assign(order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
    order.resize(most);
  }
  std::ranges::sort(order);
  std::vector<GroupSeries> all;
  for (const std::size_t group : order) {
    GroupSeries& series = all.emplace_back();
    series.label = group_label(maps.groups, group, kLegendCharacters);
    series.groups = {group};
    series.colour = subject_colour(all.size() - 1);
  }
  if (!others.empty()) {
    GroupSeries& series = all.emplace_back();
    series.label = std::to_string(others.size()) + " other groups";
    series.groups = std::move(others);
    series.colour = neutral_colour;
  }
  return all;
}

void add_layer(const GroupedMaps& maps, std::optional<std::size_t> from, std::int64_t layer,
               GroupSeries& series) {
  const auto sum = [&](const GroupedMap& map) {
    const std::vector<double> shares = maps.shares(map, from);
    double total = 0;
    for (const std::size_t group : series.groups) total += shares[group];
    return total;
  };
  series.mean.push_back(sum(maps.mean_of(layer)));
  series.least.push_back(series.mean.back());
  series.greatest.push_back(series.mean.back());
  for (const GroupedMap& map : maps.heads) {
    if (map.layer != layer || map.state != HeadState::ready) continue;
    series.least.back() = std::min(series.least.back(), sum(map));
    series.greatest.back() = std::max(series.greatest.back(), sum(map));
  }
}

void add_lines(const std::vector<GroupSeries>& all, const std::vector<double>& x, bool spread,
               Panel& panel) {
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dash_dotted,
                                  LineStyle::dotted};
  for (std::size_t index = 0; index < all.size(); ++index) {
    const GroupSeries& series = all[index];
    const Keys keys = {{"group", series.label}};
    if (spread) {
      panel.marks.emplace_back(Band{.label = {},
                                    .x = x,
                                    .low = series.least,
                                    .high = series.greatest,
                                    .colour = with_alpha(series.colour, kSpreadAlpha),
                                    .name = series.label + ", least and greatest head",
                                    .keys = keys});
    }
    panel.marks.emplace_back(Line{.label = series.label,
                                  .x = x,
                                  .y = series.mean,
                                  .colour = series.colour,
                                  .style = styles[index % std::size(styles)],
                                  .marker = subject_marker(index),
                                  .keys = keys});
  }
}

void add_stack(const std::vector<GroupSeries>& all, const std::vector<double>& x, Panel& panel) {
  std::vector<double> low(x.size(), 0);
  for (const GroupSeries& series : all) {
    std::vector<double> high = low;
    for (std::size_t i = 0; i < high.size(); ++i) high[i] += series.mean[i];
    panel.marks.emplace_back(Band{.label = series.label,
                                  .x = x,
                                  .low = low,
                                  .high = high,
                                  .colour = with_alpha(series.colour, kStackAlpha),
                                  .keys = {{"group", series.label}}});
    low = std::move(high);
  }
}

Figure make_groups_over_depth(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const GroupedMaps maps = maps_by_setting(request, progress);
  const auto from = group_named(maps.groups, read.written("from"));
  std::vector<GroupSeries> all =
      series_of(maps, from, static_cast<std::size_t>(read.whole("most")));
  const std::vector<std::int64_t> layers = maps.layers();
  std::vector<double> x;
  for (const std::int64_t layer : layers) {
    x.push_back(static_cast<double>(layer + request.first_layer));
    for (GroupSeries& series : all) add_layer(maps, from, layer, series);
  }
  const bool stacked = read.is("style", "bands");
  Figure figure;
  Panel panel;
  panel.x.label = panel.x.key = "layer";
  panel.x.minimum = x.front() - (stacked ? 0 : 0.35);
  panel.x.maximum = x.back() + (stacked ? 0 : 0.35);
  if (x.size() == 1) panel.x.maximum = *panel.x.minimum + 0.7;
  panel.x.ticks = layer_ticks(layers.back() + 1, request.first_layer);
  panel.y.label = fitted("share of the attention " + queries_in_words(maps, from),
                         0.5 * request.width_mm, figure.font_size_pt);
  panel.y.minimum = 0;
  if (stacked) panel.y.maximum = 1;
  if (stacked) {
    add_stack(all, x, panel);
  } else {
    add_lines(all, x, read.is("spread", "heads"), panel);
  }
  for (const GroupSeries& series : all) figure.numbers["share/" + series.label] = series.mean;
  panel.legend = legend_of(read);
  figure.panels.push_back(std::move(panel));
  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption =
      "Share of the attention " + queries_in_words(maps, from) + " that falls on each of the " +
      groups_written(read) + ": mean over the queries of the sum of their weights, and over heads" +
      (!stacked && read.is("spread", "heads") ? "; bands: least and greatest head" : "") + ". " +
      subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe groups_over_depth_recipe() {
  return {.name = "groups-over-depth",
          .title = "Share of groups of tokens over depth",
          .question = FigureQuestion::heads,
          .has_panel = true,
          .settings = {groups_setting(), from_setting(),
                       setting::choice("style", {"lines", "bands"}, "lines",
                                       "a line for each group, or stacked bands"),
                       setting::choice("spread", {"none", "heads"}, "none",
                                       "with lines, the range of the heads"),
                       setting::whole("most", 7, {1, 24},
                                      "number of groups that have a line of their own, those with "
                                      "the greatest shares"),
                       legend_setting()},
          .needs = {.most = 1, .tokens = false},
          .make = make_groups_over_depth};
}

}  // namespace attnscope
