#include "analysis/training/study_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kSummaryNotKnown = std::numeric_limits<double>::quiet_NaN();

/// The table of a table's steps: "probes/mean_rank" → "probes/step".
std::string steps_beside(const std::string& table) {
  return table.substr(0, table.find('/')) + "/step";
}

/// Position of a step: after row `after` by the fraction `share` of the distance to the next row.
struct StudyPlace {
  std::size_t after = 0;
  double share = 0;
};

std::optional<StudyPlace> place_of(double step, const std::vector<double>& steps) {
  if (!(step >= steps.front() && step <= steps.back())) return {};
  const auto next = std::upper_bound(steps.begin(), steps.end(), step);
  const auto after = static_cast<std::size_t>(next - steps.begin()) - 1;
  if (next == steps.end()) return StudyPlace{after, 0};
  return StudyPlace{after, (step - steps[after]) / (*next - steps[after])};
}

VariantMoment moment_of(const HistoryGroup& group,
                        const std::function<double(const TrainingLog&)>& step_of) {
  VariantMoment moment;
  moment.label = group.label;
  std::vector<double> steps, accuracies;
  std::vector<std::vector<double>> of_mean, mean, at_entropy, entropy;  // layer → runs
  const auto add_layers = [](const std::vector<double>& row, auto& layers) {
    if (layers.size() < row.size()) layers.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) layers[i].push_back(row[i]);
  };
  for (const TrainingHistory* const history : group.histories) {
    const double step = step_of(history->log);
    steps.push_back(step);
    const std::vector<double> accuracy = row_at(history->log, "tests/accuracy", step);
    accuracies.push_back(accuracy.empty() ? kSummaryNotKnown : accuracy.front());
    add_layers(row_at(history->log, "probes/rank_of_mean", step), of_mean);
    add_layers(row_at(history->log, "probes/mean_rank", step), mean);
    add_layers(row_at(history->log, "probes/rank_at_entropy", step), at_entropy);
    add_layers(row_at(history->log, "probes/entropy", step), entropy);
  }
  moment.step = seed_mean(steps);
  moment.accuracy = seed_mean(accuracies);
  const auto take = [](const auto& layers, std::vector<SeedMean>& means) {
    for (const auto& layer : layers) means.push_back(seed_mean(layer));
  };
  take(of_mean, moment.rank_of_mean);
  take(mean, moment.mean_rank);
  take(at_entropy, moment.rank_at_entropy);
  take(entropy, moment.entropy);
  return moment;
}

}  // namespace

SeedMean seed_mean(std::span<const double> numbers) {
  SeedMean result{0, 0, 0};
  for (const double number : numbers) {
    if (std::isnan(number)) continue;
    result.mean += number;
    ++result.runs;
  }
  if (result.runs == 0) return {kSummaryNotKnown, kSummaryNotKnown, 0};
  result.mean /= static_cast<double>(result.runs);
  if (result.runs == 1) return {result.mean, kSummaryNotKnown, 1};
  for (const double number : numbers) {
    if (!std::isnan(number)) result.deviation += (number - result.mean) * (number - result.mean);
  }
  result.deviation = std::sqrt(result.deviation / static_cast<double>(result.runs - 1));
  return result;
}

std::vector<HistoryGroup> history_groups(std::span<const TrainingHistory> histories) {
  std::vector<HistoryGroup> groups;
  for (const TrainingHistory& history : histories) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const HistoryGroup& one) { return one.label == history.label; });
    if (group == groups.end()) {
      groups.push_back({history.label, {}});
      group = std::prev(groups.end());
    }
    group->histories.push_back(&history);
  }
  return groups;
}

std::vector<double> row_at(const TrainingLog& log, const std::string& table, double step) {
  const LogTable* const found = log.find(table);
  const LogTable* const steps = log.find(steps_beside(table));
  if (!found || !steps) return {};
  const std::optional<StudyPlace> place = place_of(step, steps->numbers);
  const auto width = static_cast<std::size_t>(found->width);
  const std::vector<double>& numbers = found->numbers;
  if (!place || numbers.size() != steps->numbers.size() * width) return {};
  std::vector<double> row(width);
  for (std::size_t i = 0; i < width; ++i) {
    row[i] = numbers[place->after * width + i];
    if (place->share == 0) continue;
    row[i] += place->share * (numbers[(place->after + 1) * width + i] - row[i]);
  }
  return row;
}

double step_of_accuracy(const TrainingLog& log, double accuracy) {
  const LogTable* const tests = log.find("tests/step");
  const LogTable* const tested = log.find("tests/accuracy");
  if (!tests || !tested || tests->numbers.size() != tested->numbers.size()) return kSummaryNotKnown;
  const std::vector<double>&steps = tests->numbers, &found = tested->numbers;
  const auto reached =
      std::find_if(found.begin(), found.end(), [&](double one) { return one >= accuracy; });
  if (reached == found.end()) return kSummaryNotKnown;
  const auto at = static_cast<std::size_t>(reached - found.begin());
  if (at == 0) return steps.front();
  const double before = found[at - 1], share = (accuracy - before) / (found[at] - before);
  return steps[at - 1] + share * (steps[at] - steps[at - 1]);
}

StudySummary summarise(std::span<const TrainingHistory> histories) {
  StudySummary summary;
  double step = std::numeric_limits<double>::infinity(), accuracy = step;
  for (const TrainingHistory& history : histories) {
    const std::optional<double> probed = history.log.last("probes/step");
    if (!probed) {
      throw Error(ErrorKind::usage, "the training has no probes to compare")
          .in_file(history.folder)
          .expected("at least one test example, and probes above 0");
    }
    step = std::min(step, *probed);
    const LogTable* const tested = history.log.find("tests/accuracy");
    accuracy =
        tested ? std::min(accuracy, *std::ranges::max_element(tested->numbers)) : kSummaryNotKnown;
  }
  if (histories.empty()) return summary;
  summary.equal_step = static_cast<std::int64_t>(step);
  summary.equal_accuracy = accuracy;
  for (const HistoryGroup& group : history_groups(histories)) {
    summary.untrained.push_back(moment_of(group, [](const TrainingLog&) { return 0.0; }));
    summary.at_equal_steps.push_back(moment_of(group, [&](const TrainingLog&) { return step; }));
    if (std::isnan(accuracy)) continue;
    summary.at_equal_accuracy.push_back(
        moment_of(group, [&](const TrainingLog& log) { return step_of_accuracy(log, accuracy); }));
  }
  return summary;
}

}  // namespace attnscope
