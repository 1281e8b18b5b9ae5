// Figure of maps averaged by groups of tokens.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipes/group_figures.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMean = -1;  // head of the mean over heads
constexpr std::size_t kMostNamed = 24;
constexpr std::size_t kCharacters = 14;

HeatMap heat_of_pairs(const MatrixD& pairs) {
  HeatMap heat;
  heat.rows = pairs.rows();
  heat.columns = pairs.cols();
  for (Eigen::Index i = 0; i < pairs.size(); ++i) {
    heat.values.push_back(static_cast<float>(pairs.data()[i]));
  }
  return heat;
}

GroupedMap map_at(const GroupedMaps& maps, std::int64_t layer, std::int64_t head) {
  if (head == kMean) return maps.mean_of(layer);
  const auto found = std::ranges::find_if(
      maps.heads, [&](const GroupedMap& map) { return map.layer == layer && map.head == head; });
  if (found == maps.heads.end()) {
    throw Error(ErrorKind::usage, "the layer has no such head")
        .about("heads")
        .found(std::to_string(head));
  }
  return *found;
}

std::vector<Tick> group_ticks(const TokenGroups& groups) {
  std::vector<Tick> ticks;
  if (groups.size() > kMostNamed) return ticks;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    ticks.push_back({static_cast<double>(group), group_label(groups, group, kCharacters)});
  }
  return ticks;
}

/// Every tick, or every second, third … that has `least_mm` of a frame of `frame_mm`.
std::vector<Tick> legible(const std::vector<Tick>& ticks, double frame_mm) {
  constexpr double least_mm = 2.2;
  const double each_mm = frame_mm / static_cast<double>(ticks.size());
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(least_mm / each_mm)));
  std::vector<Tick> shown;
  for (std::size_t i = 0; i < ticks.size(); i += step) shown.push_back(ticks[i]);
  return shown;
}

/// Names the groups of queries to the left of the first column, those of keys under the last row,
/// and makes room for the names: next to them frames of `frame_mm` are narrower.
void name_groups(Figure& figure, std::vector<Tick> ticks, double frame_mm) {
  std::int64_t rows = 0, columns = 0;
  double names_mm = 0;
  for (const Panel& panel : figure.panels) {
    rows = std::max(rows, panel.row + 1);
    columns = std::max(columns, panel.column + 1);
  }
  for (const Tick& tick : ticks) {
    names_mm = std::max(names_mm, text_mm(tick.label, figure.font_size_pt));
  }
  const double narrower_mm = std::min(names_mm / static_cast<double>(columns), 0.6 * frame_mm);
  if (!ticks.empty()) ticks = legible(ticks, frame_mm - narrower_mm);
  for (Panel& panel : figure.panels) {
    if (ticks.empty()) continue;
    if (panel.column == 0) {
      panel.y.visible = true;
      panel.y.ticks = ticks;
    }
    if (panel.row + 1 == rows) {
      panel.x.visible = true;
      panel.x.turned_ticks = true;
      panel.x.ticks = ticks;
    }
  }
  figure.height_mm += names_mm - static_cast<double>(rows) * narrower_mm;
}

Figure make_group_maps(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Trace& trace = *request.subjects.front().trace;
  const GroupedMaps maps = maps_by_setting(request, progress);
  const std::vector<std::int64_t> known = maps.layers();
  std::vector<std::int64_t> layers, heads = {kMean};
  if (read.is("layers", "auto")) {
    for (const std::int64_t place : first_middle_last(std::ssize(known))) {
      layers.push_back(known[static_cast<std::size_t>(place)]);
    }
  } else {
    layers = read.indices("layers", std::ssize(trace.layers));
  }
  if (!read.is("heads", "mean")) heads = read.indices("heads", trace.heads());
  const bool shares = read.is("show", "share");

  Figure figure;
  std::vector<float> values;
  for (std::size_t row = 0; row < heads.size(); ++row) {
    for (std::size_t column = 0; column < layers.size(); ++column) {
      const GroupedMap map = map_at(maps, layers[column], heads[row]);
      Panel panel = map_panel(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column));
      if (row == 0) panel.title = layer_name(request, layers[column]);
      if (column == 0 && heads.size() > 1) panel.y.label = "head " + std::to_string(heads[row]);
      panel.x.key = "group of keys";
      panel.y.key = "group of queries";
      panel.keys = {{"layer", std::to_string(layers[column] + request.first_layer)},
                    {"head", heads[row] == kMean ? "mean" : std::to_string(heads[row])}};
      HeatMap heat = heat_of_pairs(shares ? map.shares : maps.mean_weights(map));
      values.insert(values.end(), heat.values.begin(), heat.values.end());
      panel.marks.emplace_back(std::move(heat));
      figure.panels.push_back(std::move(panel));
    }
  }
  const HeatScale scale = heat_scale(read, std::move(values),
                                     shares ? "share of the attention" : "mean attention weight");
  figure.colour_scales.push_back(scale.scale);
  const double frame_mm = finish_map_grid(
      figure, {.rows = std::ssize(heads), .columns = std::ssize(layers)}, request.width_mm);
  name_groups(figure, group_ticks(maps.groups), frame_mm);
  figure.caption =
      "Attention between " + groups_written(read) + " (rows are queries, columns keys), " +
      (heads.front() == kMean ? "mean over heads" : chosen("head", read.written("heads"))) + ": " +
      (shares ? "mean over the queries of a group of the sum over the keys of the other; "
                "rows sum to 1 if every token is in a group. "
              : "mean over the queries of a group and the keys of the other. ") +
      "Grey: not known. " + clipping_in_words(scale) + subjects_in_words(request) + ". " +
      made_with();
  return figure;
}

}  // namespace

FigureRecipe group_maps_recipe() {
  return {.name = "group-maps",
          .title = "Attention between groups of tokens",
          .source = "Thought Anchors, 2025",
          .question = FigureQuestion::maps,
          .has_panel = true,
          .settings = {groups_setting(),
                       setting::choice("show", {"share", "mean-weight"}, "share",
                                       "the share of a query's attention that falls on a group, "
                                       "or the mean weight of its keys, which does not grow with "
                                       "their number"),
                       indices_setting("layers", "layers; auto: the first, middle and last")
                           .or_word({"auto"})
                           .by_default("auto"),
                       indices_setting("heads", "heads, a row each; mean: their mean")
                           .or_word({"mean"})
                           .by_default("mean"),
                       colour_map_setting(), norm_setting(), range_setting("full")},
          .needs = {.most = 1, .tokens = false},
          .make = make_group_maps};
}

}  // namespace attnscope
