// Figure of the similarity of the maps of all heads, (L·H) × (L·H), optionally clustered.
#include "analysis/heads/head_similarity.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "core/error.h"

namespace attnscope {

namespace {

std::string title_of_likeness(HeadLikeness likeness) {
  return likeness == HeadLikeness::cosine ? "mean cosine of the maps' columns"
                                          : "1 − Jensen–Shannon divergence (bits)";
}

/// Heads in the order of drawing: by number, or clustered by similarity.
std::vector<std::int64_t> drawn_order(const HeadSimilarity& found, bool clustered) {
  if (clustered) return found.clustered;
  std::vector<std::int64_t> order;
  for (std::int64_t head = 0; head < std::ssize(found.heads); ++head) order.push_back(head);
  return order;
}

/// Ticks with the name of each head if there are few, else with the first head of each layer.
std::vector<Tick> head_ticks(const HeadSimilarity& found, const std::vector<std::int64_t>& order,
                             std::int64_t first_layer, bool clustered) {
  constexpr std::size_t most = 24;
  const bool all = order.size() <= most;
  std::vector<Tick> ticks;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto& [layer, head] = found.heads[static_cast<std::size_t>(order[place])];
    const auto at = static_cast<double>(place);
    const std::string number = std::to_string(layer + first_layer);
    if (all) {
      ticks.push_back({at, number + "." + std::to_string(head)});
    } else if (!clustered && head == 0) {
      ticks.push_back({at, number});
    }
  }
  if (!all && clustered) ticks.push_back({0, ""});
  return ticks;
}

Figure make_head_similarity(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const HeadLikeness likeness = read.choice("likeness", head_likeness_names);
  const bool clustered = read.is("order", "clustered");
  const std::vector<std::string> labels = short_labels(request);
  Figure figure;
  std::vector<float> values;
  std::int64_t most = 0;
  const auto count = static_cast<double>(request.subjects.size());
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const auto at = static_cast<double>(index);
    const HeadSimilarity found = head_similarity(*request.subjects[index].trace, likeness,
                                                 progress.part(at / count, (at + 1) / count));
    const std::vector<std::int64_t> order = drawn_order(found, clustered);
    HeatMap heat;
    heat.rows = heat.columns = std::ssize(order);
    most = std::max(most, heat.rows);
    for (const std::int64_t row : order) {
      for (const std::int64_t column : order) {
        heat.values.push_back(static_cast<float>(found.similarity(row, column)));
      }
    }
    values.insert(values.end(), heat.values.begin(), heat.values.end());
    Panel panel = map_panel(0, static_cast<std::int64_t>(index));
    panel.x.ticks = panel.y.ticks = head_ticks(found, order, request.first_layer, clustered);
    panel.x.visible = panel.y.visible = true;
    panel.x.turned_ticks = true;
    panel.x.key = panel.y.key = "head in the order drawn";
    if (request.subjects.size() > 1) panel.title = labels[index];
    panel.keys = {{"model", request.subjects[index].label}};
    panel.marks.emplace_back(std::move(heat));
    figure.panels.push_back(std::move(panel));
    std::vector<double>& drawn = figure.numbers["order/" + request.subjects[index].label];
    for (const std::int64_t head : order) drawn.push_back(static_cast<double>(head));
    for (const HeadSimilarity::Join& join : found.joins) {
      figure.numbers["join_distance/" + request.subjects[index].label].push_back(join.distance);
    }
  }
  const HeatScale scale = heat_scale(read, std::move(values), title_of_likeness(likeness));
  figure.colour_scales.push_back(scale.scale);
  finish_map_grid(figure, {.rows = 1, .columns = std::ssize(request.subjects), .aspect = 1},
                  request.width_mm);
  figure.caption =
      "How alike the maps of two heads are: " + title_of_likeness(likeness) +
      (likeness == HeadLikeness::cosine ? " (Zhou et al. 2021)" : ", mean over queries") + ". " +
      (clustered ? "Heads in the order of average linkage, similar heads next to each other. "
                 : "Heads in the order of their layers. ") +
      (most <= 24 ? "layer.head. " : "") + clipping_in_words(scale) + subjects_in_words(request) +
      ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe head_similarity_recipe() {
  return {.name = "head-similarity",
          .title = "How alike the heads are",
          .source = "Zhou et al. 2021",
          .question = FigureQuestion::heads,
          .settings = {setting::choice("likeness", names_of(head_likeness_names), "jensen-shannon",
                                       "measure of likeness of two heads' maps: the cosine of "
                                       "their columns, or 1 − the divergence of their rows"),
                       setting::choice("order", {"clustered", "layers"}, "clustered",
                                       "like heads next to each other, or layer by layer"),
                       colour_map_setting(), norm_setting(), range_setting("full")},
          .make = make_head_similarity};
}

}  // namespace attnscope
