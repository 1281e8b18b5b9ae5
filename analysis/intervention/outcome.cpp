// Outcomes of a study's columns with their standard errors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>

#include "analysis/intervention/study.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kOutcomeNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr int kResamples = 1000;

/// Sums over questions for one column.
struct Sums {
  double predicted = 0, finite = 0, correct = 0, correct_whole = 0, nats = 0, divergence = 0;
  double characters = 0;

  void add(const StudySeries& series, std::size_t question, std::size_t column) {
    const std::size_t columns = series.columns.size(), at = question * columns + column;
    const auto count = static_cast<double>(series.predicted[question]);
    predicted += count;
    finite += count - static_cast<double>(series.not_finite[at]);
    correct += static_cast<double>(series.correct[at]);
    correct_whole += static_cast<double>(series.correct[question * columns]);
    nats += series.nats[at];
    divergence += series.divergence[at];
    characters += static_cast<double>(series.characters[question]);
  }

  /// Accuracy, its change, divergence, bits per token, bits per character.
  [[nodiscard]] std::array<double, 5> ratios() const {
    const double bits = nats / std::numbers::ln2;
    const auto over = [](double sum, double count) {
      return count > 0 ? sum / count : kOutcomeNotKnown;
    };
    // Characters are counted only per question: bits per character needs finite logits everywhere.
    const bool all = finite == predicted;
    return {over(correct, predicted), over(correct - correct_whole, predicted),
            over(divergence, finite), over(bits, finite),
            all ? over(bits, characters) : kOutcomeNotKnown};
  }
};

/// Standard deviations of the ratios over resamples of the questions.
std::array<double, 5> bootstrap(const StudySeries& series, std::size_t column) {
  const auto questions = static_cast<std::uint64_t>(series.done);
  std::array<double, 5> sums{}, squares{};
  std::mt19937 random(0);
  for (int sample = 0; sample < kResamples; ++sample) {
    Sums sum;
    for (std::uint64_t i = 0; i < questions; ++i) {
      // ⌊u · n / 2³²⌋ is reproducible in NumPy.
      sum.add(series, static_cast<std::size_t>((random() * questions) >> 32U), column);
    }
    const std::array<double, 5> ratios = sum.ratios();
    for (std::size_t k = 0; k < ratios.size(); ++k) {
      sums[k] += ratios[k];
      squares[k] += ratios[k] * ratios[k];
    }
  }
  std::array<double, 5> errors{};
  for (std::size_t k = 0; k < errors.size(); ++k) {
    const double mean = sums[k] / kResamples;
    errors[k] = questions > 1 ? std::sqrt(std::max(0.0, squares[k] / kResamples - mean * mean))
                              : kOutcomeNotKnown;
  }
  return errors;
}

/// Standard error of a mean over images, from its summands; NaN for fewer than 2.
double error_of_mean(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < 2) return kOutcomeNotKnown;
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)) / (n - 1));
}

/// Values of one column times `factor`, only of images with finite logits.
std::vector<double> finite_answers(const StudySeries& series, std::size_t column,
                                   const std::vector<double>& values, double factor) {
  std::vector<double> found;
  for (std::size_t i = 0; i < series.predicted.size(); ++i) {
    const std::size_t at = i * series.columns.size() + column;
    if (series.not_finite[at] == 0) found.push_back(values[at] * factor);
  }
  return found;
}

void add_errors_of_images(const StudySeries& series, std::size_t column, Outcome& outcome) {
  const auto n = static_cast<double>(outcome.predicted);
  const double p = outcome.accuracy;
  outcome.accuracy_error = std::sqrt(p * (1 - p) / n);
  outcome.divergence_error = error_of_mean(finite_answers(series, column, series.divergence, 1));
  outcome.bits_per_token_error =
      error_of_mean(finite_answers(series, column, series.nats, 1 / std::numbers::ln2));
  double gained = 0, lost = 0;
  for (std::size_t i = 0; i < series.predicted.size(); ++i) {
    const std::int64_t whole = series.correct[i * series.columns.size()];
    const std::int64_t changed = series.correct[i * series.columns.size() + column];
    gained += changed > whole;
    lost += whole > changed;
  }
  outcome.accuracy_change_error =
      std::sqrt(gained + lost - (gained - lost) * (gained - lost) / n) / n;
}

}  // namespace

Outcome outcome_of(const StudyResult& result, std::size_t index, std::size_t column) {
  const StudySeries& series = result.series.at(index);
  if (column >= series.columns.size()) {
    throw Error(ErrorKind::usage, "the study has no such change")
        .expected("0 to " + std::to_string(series.columns.size() - 1))
        .found(std::to_string(column));
  }
  Sums sums;
  Outcome outcome;
  for (std::size_t i = 0; i < series.predicted.size(); ++i) {
    sums.add(series, i, column);
    outcome.not_finite += series.not_finite[i * series.columns.size() + column];
  }
  outcome.predicted = static_cast<std::int64_t>(sums.predicted);
  outcome.correct = static_cast<std::int64_t>(sums.correct);
  const std::array<double, 5> ratios = sums.ratios();
  outcome.accuracy = ratios[0];
  outcome.accuracy_change = ratios[1];
  outcome.divergence = ratios[2];
  outcome.bits_per_token = ratios[3];
  outcome.bits_per_character = ratios[4];
  if (!result.of_text) {
    outcome.bits_per_character_error = kOutcomeNotKnown;
    add_errors_of_images(series, column, outcome);
    return outcome;
  }
  const std::array<double, 5> errors = bootstrap(series, column);
  outcome.accuracy_error = errors[0];
  outcome.accuracy_change_error = errors[1];
  outcome.divergence_error = errors[2];
  outcome.bits_per_token_error = errors[3];
  outcome.bits_per_character_error = errors[4];
  return outcome;
}

std::optional<NullOutcome> mean_null_of(const StudySeries& series) {
  NullOutcome mean;
  double maps = 0;
  for (std::size_t i = 0; i < series.null_maps.size(); ++i) {
    mean.rank += series.null_sums[i];
    mean.rank_over_null += series.ratio_sums[i];
    maps += static_cast<double>(series.null_maps[i]);
  }
  if (maps == 0) return std::nullopt;
  mean.rank /= maps;
  mean.rank_over_null /= maps;
  return mean;
}

std::optional<double> mean_equivalent_rank(const StudySeries& series) {
  double sum = 0, maps = 0;
  for (std::size_t i = 0; i < series.rank_sums.size(); ++i) {
    sum += series.rank_sums[i];
    maps += static_cast<double>(series.rank_maps[i]);
  }
  if (maps == 0) return std::nullopt;
  return sum / maps;
}

}  // namespace attnscope
