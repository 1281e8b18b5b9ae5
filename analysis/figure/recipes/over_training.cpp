// Figure of a network during training: accuracy, ranks and entropies of its maps by step.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/training_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// A quantity over training, with its table in the log and the factor that the table's numbers are
/// multiplied by.
struct TrainingQuantity {
  const char* name;
  const char* table;
  const char* label;
  double factor = 1;
};
constexpr TrainingQuantity kQuantities[] = {
    {"accuracy", "tests/accuracy", "test accuracy"},
    {"loss", "tests/loss", "test loss, nats"},
    {"bits", "tests/loss", "test loss, bits", std::numbers::log2e},
    {"rank_of_mean", "probes/rank_of_mean", "rank of the mean curve"},
    {"mean_rank", "probes/mean_rank", "mean equivalent rank"},
    {"identity_rank", "probes/identity_rank", "mean equivalent rank of A + I"},
    {"entropy", "probes/entropy", "entropy of a query, nats"},
    {"rank_at_entropy", "probes/rank_at_entropy", "mean equivalent rank at 0.8 ln n"},
};

std::vector<std::string> quantity_names() {
  std::vector<std::string> names;
  for (const TrainingQuantity& one : kQuantities) names.emplace_back(one.name);
  return names;
}

/// Mean over the selected layers; the single value of a quantity without layers.
double over_layers(const std::vector<double>& row, const Settings& read) {
  if (row.size() < 2) return row.empty() ? std::nan("") : row.front();
  const auto layers = read.indices("layers", std::ssize(row));
  double sum = 0;
  for (const std::int64_t layer : layers) sum += row[static_cast<std::size_t>(layer)];
  return sum / static_cast<double>(layers.size());
}

/// Steps at which any history of the group has a row of this table.
std::set<double> steps_logged(const HistoryGroup& group, const std::string& table) {
  std::set<double> steps;
  for (const TrainingHistory* const history : group.histories) {
    const LogTable* const logged = history->log.find(table.substr(0, table.find('/')) + "/step");
    if (!logged || !history->log.find(table)) continue;
    steps.insert(logged->numbers.begin(), logged->numbers.end());
  }
  return steps;
}

/// The curve of one group's quantity over its steps, or over accuracy.
struct GroupCurve {
  std::vector<double> x, mean, low, high;
};

GroupCurve curve_of(const HistoryGroup& group, const TrainingQuantity& quantity,
                    const Settings& read) {
  const bool by_accuracy = read.is("against", "accuracy");
  const bool whole_range = read.is("bands", "range");
  GroupCurve curve;
  for (const double step : steps_logged(group, quantity.table)) {
    std::vector<double> numbers, accuracies;
    for (const TrainingHistory* const history : group.histories) {
      const double number =
          quantity.factor * over_layers(row_at(history->log, quantity.table, step), read);
      const auto accuracy = row_at(history->log, "tests/accuracy", step);
      // Runs without a value at this step are excluded.
      if (std::isnan(number) || (by_accuracy && accuracy.empty())) continue;
      numbers.push_back(number);
      if (by_accuracy) accuracies.push_back(accuracy.front());
    }
    if (numbers.empty()) continue;
    const SeedMean mean = seed_mean(numbers);
    curve.x.push_back(by_accuracy ? seed_mean(accuracies).mean : step);
    curve.mean.push_back(mean.mean);
    const double deviation = std::isnan(mean.deviation) ? 0 : mean.deviation;
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    curve.low.push_back(whole_range ? *least : mean.mean - deviation);
    curve.high.push_back(whole_range ? *most : mean.mean + deviation);
  }
  return curve;
}

/// Makes the axis of steps logarithmic; step 0 is drawn at 1/2.
void set_step_axis(Axis& axis, std::vector<Panel>& panels, bool logarithmic) {
  axis.label = "step";
  axis.key = "step";
  if (!logarithmic) return;
  constexpr double kStart = 0.5;
  double last = 1;
  for (Panel& panel : panels) {
    const auto move = [&](std::vector<double>& x) {
      for (double& step : x) {
        last = std::max(last, step);
        step = std::max(step, kStart);
      }
    };
    for (Mark& mark : panel.marks) {
      if (auto* const line = std::get_if<Line>(&mark)) move(line->x);
      if (auto* const band = std::get_if<Band>(&mark)) move(band->x);
    }
  }
  axis.logarithmic = true;
  axis.minimum = kStart;
  axis.maximum = last;
  axis.ticks = {{kStart, "0"}};
  for (double step = 1; step <= last; step *= 10) axis.ticks.push_back({step, rounded_text(step)});
}

Panel panel_of_quantity(const TrainingQuantity& quantity, const std::vector<HistoryGroup>& groups,
                        const Settings& read, Figure& figure) {
  constexpr int kBandAlpha = 45;
  Panel panel;
  panel.y.label = quantity.label;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    GroupCurve curve = curve_of(groups[i], quantity, read);
    if (curve.x.empty()) continue;
    const std::string key = std::string(quantity.name) + "/" + groups[i].label;
    figure.numbers[key + "/mean"] = curve.mean;
    figure.numbers[key + "/x"] = curve.x;
    const Keys keys = {{"training", groups[i].label}, {"quantity", quantity.name}};
    const bool has_band = groups[i].histories.size() > 1 && !read.is("bands", "none");
    if (has_band) {
      Band band;
      band.x = curve.x;
      band.low = curve.low;
      band.high = curve.high;
      band.colour = with_alpha(subject_colour(i), kBandAlpha);
      band.keys = keys;
      panel.marks.emplace_back(std::move(band));
    }
    Line line;
    line.label = groups[i].label;
    line.x = std::move(curve.x);
    line.y = std::move(curve.mean);
    line.colour = subject_colour(i);
    line.marker = subject_marker(i);
    line.keys = keys;
    panel.marks.emplace_back(std::move(line));
  }
  panel.legend = LegendPosition::below;
  return panel;
}

Figure make_over_training(const FigureRequest& request, const Progress& progress) {
  constexpr std::size_t kColumns = 2;
  const Settings read(request);
  const std::vector<TrainingHistory> histories = histories_shown(read, progress);
  const std::vector<HistoryGroup> groups = history_groups(histories);
  const std::vector<std::string>& wanted = read.names("show");
  Figure figure;
  for (const TrainingQuantity& quantity : kQuantities) {
    if (std::find(wanted.begin(), wanted.end(), quantity.name) == wanted.end()) continue;
    Panel panel = panel_of_quantity(quantity, groups, read, figure);
    if (panel.marks.empty()) continue;
    panel.row = static_cast<std::int64_t>(figure.panels.size() / kColumns);
    panel.column = static_cast<std::int64_t>(figure.panels.size() % kColumns);
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) {
    throw Error(ErrorKind::usage, "the training logged none of these quantities").about("show");
  }
  Axis axis;
  if (read.is("against", "accuracy")) {
    axis.label = axis.key = "test accuracy";
  } else {
    set_step_axis(axis, figure.panels, read.is("against", "log_step"));
  }
  for (Panel& panel : figure.panels) panel.x = axis;
  figure.shared_legend = true;
  const std::size_t rows = (figure.panels.size() + kColumns - 1) / kColumns;
  const double share = figure.panels.size() == 1 ? 0.62 : 0.42;
  figure.height_mm = share * request.width_mm * static_cast<double>(rows) + 5 +
                     legend_mm(figure, request.width_mm);
  const std::string bands = read.is("bands", "none")    ? ""
                            : read.is("bands", "range") ? "; bands: from the least to the greatest"
                                                        : "; bands: one standard deviation";
  figure.caption = "Training, step by step: " + histories_in_words(read, histories) + bands +
                   ". Equivalent ranks at 0.9 of A without I, " +
                   chosen("layer", layers_written(request, "layers")) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe over_training_recipe() {
  std::vector<ParameterDescription> settings = training_folder_settings();
  settings.push_back(setting::names("show", quantity_names(),
                                    {"accuracy", "rank_of_mean", "mean_rank", "entropy"},
                                    "what is followed, a panel each"));
  settings.push_back(indices_setting("layers", "whose mean ranks and entropies are"));
  settings.push_back(setting::choice("against", {"log_step", "step", "accuracy"}, "log_step",
                                     "over steps, or over the test accuracy reached"));
  settings.push_back(setting::choice("bands", {"deviation", "range", "none"}, "deviation",
                                     "around the mean, of several seeds"));
  return {.name = "over-training",
          .title = "What a network is while it learns",
          .source = "Adder, Fig. 2, 3",
          .question = FigureQuestion::training,
          .settings = std::move(settings),
          .needs = training_needs,
          .make = make_over_training};
}

}  // namespace attnscope
