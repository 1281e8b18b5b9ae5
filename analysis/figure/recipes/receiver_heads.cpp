// Figure of receiver heads: the kurtosis of every head, and the groups that receiver heads return
// to, after Thought Anchors, 2025.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/group_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::size_t kMostNamedScores = 16;
constexpr std::size_t kScoreCharacters = 18;

Line dots(std::string name, Colour colour, MarkerShape marker) {
  Line line;
  line.label = std::move(name);
  line.colour = colour;
  line.style = LineStyle::none;
  line.marker = marker;
  return line;
}

Panel kurtosis_panel(const GroupedMaps& maps, std::int64_t first_layer) {
  Line others = dots("other heads", neutral_colour, MarkerShape::circle);
  Line receivers = dots("receiver heads", subject_colour(0), MarkerShape::diamond);
  for (std::size_t head = 0; head < maps.heads.size(); ++head) {
    const GroupedMap& map = maps.heads[head];
    if (std::isnan(map.kurtosis)) continue;
    const bool chosen = std::ranges::find(maps.receivers, head) != maps.receivers.end();
    Line& line = chosen ? receivers : others;
    line.x.push_back(static_cast<double>(map.layer + first_layer));
    line.y.push_back(map.kurtosis);
  }
  Panel panel;
  const std::int64_t layers = maps.layers().back() + 1;
  panel.x.label = panel.x.key = "layer";
  panel.x.minimum = static_cast<double>(first_layer) - 0.35;
  panel.x.maximum = static_cast<double>(first_layer + layers) - 0.65;
  panel.x.ticks = layer_ticks(layers, first_layer);
  panel.y.label = "kurtosis";
  panel.legend = LegendPosition::below;
  panel.marks.emplace_back(std::move(others));
  panel.marks.emplace_back(std::move(receivers));
  return panel;
}

Panel score_panel(const GroupedMaps& maps, std::int64_t first_layer) {
  Panel panel;
  panel.row = 1;
  std::vector<double> groups;
  for (std::size_t group = 0; group < maps.groups.size(); ++group) {
    groups.push_back(static_cast<double>(group));
    if (maps.groups.size() > kMostNamedScores) continue;
    panel.x.ticks.push_back({groups.back(), group_label(maps.groups, group, kScoreCharacters)});
    panel.x.turned_ticks = true;
  }
  for (const std::size_t head : maps.receivers) {
    const GroupedMap& map = maps.heads[head];
    Line line;
    line.name =
        "layer " + std::to_string(map.layer + first_layer) + ", head " + std::to_string(map.head);
    line.keys = {{"layer", std::to_string(map.layer + first_layer)},
                 {"head", std::to_string(map.head)}};
    line.x = groups;
    line.y = map.received;
    line.colour = with_alpha(subject_colour(0), 110);
    line.width_pt = 0.5;
    panel.marks.emplace_back(std::move(line));
  }
  Line mean;
  mean.label = "mean of the receiver heads";
  mean.x = groups;
  mean.y = maps.received;
  mean.colour = subject_colour(0);
  mean.marker = MarkerShape::diamond;
  panel.marks.emplace_back(std::move(mean));
  panel.x.minimum = -0.5;
  panel.x.maximum = static_cast<double>(maps.groups.size()) - 0.5;
  panel.x.key = "group";
  if (panel.x.ticks.empty()) panel.x.label = "group";
  panel.y.label = "receiver score";
  panel.y.minimum = 0;
  return panel;
}

Figure make_receiver_heads(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  GroupOptions options{.groups = read.written("groups"),
                       .apart = read.whole("apart"),
                       .receivers = read.whole("receivers")};
  const GroupedMaps maps = grouped_maps(*request.subjects.front().trace, options, progress);
  if (maps.receivers.empty()) {
    throw Error(ErrorKind::usage, "no head has a kurtosis of receiver scores")
        .about("groups")
        .expected("more than " + std::to_string(options.apart + 1) +
                  " groups in the order of the tokens, with different scores")
        .found(std::to_string(maps.groups.size()) + " groups")
        .remedy("choose words or sentences of a longer text");
  }
  Figure figure;
  figure.panels = {kurtosis_panel(maps, request.first_layer),
                   score_panel(maps, request.first_layer)};
  figure.numbers["receiver_score"] = maps.received;
  figure.height_mm = 1.1 * request.width_mm + 6;
  figure.caption =
      "Above, the excess kurtosis of each head's receiver scores; below, these scores of the " +
      std::to_string(maps.receivers.size()) + " heads with the greatest (thin), and their mean: " +
      "the mean weight of the keys of a group in the groups " + std::to_string(options.apart) +
      " or more after it. Groups: " + groups_written(read) + ". " + subjects_in_words(request) +
      ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe receiver_heads_recipe() {
  return {.name = "receiver-heads",
          .title = "Receiver heads and the groups they return to",
          .source = "Thought Anchors, 2025",
          .question = FigureQuestion::heads,
          .has_panel = true,
          .settings = {groups_setting(),
                       setting::whole("apart", 4, {1, 1'000'000},
                                      "least distance, in groups, of the later groups"),
                       setting::whole("receivers", 0, {0, 1'000'000},
                                      "number of receiver heads; 0: 20, but at most a tenth")},
          .needs = {.most = 1, .tokens = false},
          .make = make_receiver_heads};
}

}  // namespace attnscope
