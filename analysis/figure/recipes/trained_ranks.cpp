// Figure of the ranks of trained networks by layer, at equal steps and at equal accuracy.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/training_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Content of one of the four panels: kind of ranks and moments.
struct RankChoice {
  const char* name;
  const char* label;
  std::vector<SeedMean> VariantMoment::*ranks;
};

Panel panel_of_moments(const std::vector<VariantMoment>& moments, const RankChoice& choice,
                       std::int64_t first_layer, Figure& figure, const std::string& when) {
  constexpr int kBandAlpha = 45;
  Panel panel;
  panel.y.label = choice.label;
  panel.x.label = panel.x.key = "layer";
  const auto first = static_cast<double>(first_layer);
  std::size_t layers = 1;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const std::vector<SeedMean>& ranks = moments[i].*choice.ranks;
    Line line;
    Band band;
    for (std::size_t layer = 0; layer < ranks.size(); ++layer) {
      if (ranks[layer].runs == 0) continue;
      line.x.push_back(first + static_cast<double>(layer));
      line.y.push_back(ranks[layer].mean);
      const double deviation = ranks[layer].runs > 1 ? ranks[layer].deviation : 0;
      band.low.push_back(ranks[layer].mean - deviation);
      band.high.push_back(ranks[layer].mean + deviation);
    }
    if (line.x.empty()) continue;
    layers = std::max(layers, ranks.size());
    figure.numbers[when + "/" + choice.name + "/" + moments[i].label] = line.y;
    band.x = line.x;
    line.label = moments[i].label;
    line.colour = subject_colour(i);
    line.marker = subject_marker(i);
    line.keys = band.keys = {{"training", moments[i].label}, {"ranks", choice.name}, {"at", when}};
    band.colour = with_alpha(line.colour, kBandAlpha);
    panel.marks.emplace_back(std::move(band));
    panel.marks.emplace_back(std::move(line));
  }
  panel.x.minimum = first - 0.3;
  panel.x.maximum = first + static_cast<double>(layers) - 0.7;
  panel.x.ticks = layer_ticks(static_cast<std::int64_t>(layers), first_layer);
  panel.y.minimum = 0;
  panel.legend = LegendPosition::below;
  return panel;
}

constexpr RankChoice kRankChoices[] = {
    {"rank_of_mean", "rank of the mean curve", &VariantMoment::rank_of_mean},
    {"mean_rank", "mean equivalent rank", &VariantMoment::mean_rank},
    {"rank_at_entropy", "mean rank at 0.8 ln n", &VariantMoment::rank_at_entropy}};

std::vector<std::string> rank_choice_names() {
  std::vector<std::string> names;
  for (const RankChoice& one : kRankChoices) names.emplace_back(one.name);
  return names;
}

Figure make_trained_ranks(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const std::vector<TrainingHistory> histories = histories_shown(read, progress);
  const StudySummary summary = summarise(histories);
  const std::vector<std::string>& wanted = read.names("show");
  Figure figure;
  const bool tested = !summary.at_equal_accuracy.empty();
  std::int64_t row = 0;
  for (const RankChoice& choice : kRankChoices) {
    if (std::ranges::find(wanted, choice.name) == wanted.end()) continue;
    const auto add = [&](const std::vector<VariantMoment>& moments, std::int64_t column,
                         const std::string& title, const std::string& when) {
      Panel panel = panel_of_moments(moments, choice, request.first_layer, figure, when);
      panel.row = row;
      panel.column = column;
      if (row == 0) panel.title = title;
      figure.panels.push_back(std::move(panel));
    };
    add(summary.at_equal_steps, 0, "after " + std::to_string(summary.equal_step) + " steps",
        "equal_steps");
    if (tested) {
      add(summary.at_equal_accuracy, 1,
          "at " + fixed_text(100 * summary.equal_accuracy, 1) + " % right", "equal_accuracy");
    }
    ++row;
  }
  figure.shared_legend = true;
  const double share = tested ? 0.42 : 0.62;
  figure.height_mm =
      static_cast<double>(row) * share * request.width_mm + 8 + legend_mm(figure, request.width_mm);
  figure.caption =
      "Equivalent ranks at 0.9 of A without I by layer: " + histories_in_words(read, histories) +
      "; bands: one standard deviation. Equal accuracy is the most that every run "
      "reaches. " +
      made_with();
  return figure;
}

}  // namespace

FigureRecipe trained_ranks_recipe() {
  std::vector<ParameterDescription> settings = training_folder_settings();
  settings.push_back(setting::names(
      "show", rank_choice_names(), {"rank_of_mean", "mean_rank"},
      "ranks, a row each; at 0.8 ln n: at the temperature that gives the rows that entropy"));
  return {.name = "trained-ranks",
          .title = "Ranks of trained networks at equal steps and equal accuracy",
          .source = "Adder, Fig. 2, 3",
          .question = FigureQuestion::training,
          .settings = std::move(settings),
          .needs = training_needs,
          .make = make_trained_ranks};
}

}  // namespace attnscope
