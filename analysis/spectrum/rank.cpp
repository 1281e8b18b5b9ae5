#include "analysis/spectrum/rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/text/number_text.h"

namespace attnscope {

namespace {

double sum_all(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double sum_of_squares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

std::vector<double> squares_of(std::span<const double> values) {
  std::vector<double> squares;
  for (const double value : values) squares.push_back(value * value);
  return squares;
}

}  // namespace

const char* symbol_of(RankShare share) { return share == RankShare::energy ? "Σσ²" : "Σσ"; }

std::string to_string(const RankThreshold& threshold) {
  return "τ = " + rounded_text(threshold.level) + " of " + symbol_of(threshold.of);
}

std::string rank_in_words(const RankThreshold& threshold) {
  return "smallest r whose σ_1 … σ_r hold " + rounded_text(threshold.level) + " of " +
         symbol_of(threshold.of);
}

std::vector<double> cumulative_share(std::span<const double> singular_values, RankShare of) {
  if (of == RankShare::energy) {
    return cumulative_share(squares_of(singular_values), RankShare::values);
  }
  const double total = sum_all(singular_values);
  if (!(total > 0)) return {};
  std::vector<double> share(singular_values.size());
  double sum = 0;
  for (std::size_t t = 0; t < share.size(); ++t) share[t] = (sum += singular_values[t]) / total;
  return share;
}

std::vector<double> linear_share(std::int64_t count) {
  std::vector<double> share(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::size_t t = 0; t < share.size(); ++t) {
    share[t] = static_cast<double>(t + 1) / static_cast<double>(count);
  }
  return share;
}

std::int64_t rank_of_share(std::span<const double> share, double threshold) {
  const auto reached = std::find_if(share.begin(), share.end(),
                                    [threshold](double value) { return value >= threshold; });
  if (reached == share.end()) return static_cast<std::int64_t>(share.size());
  return reached - share.begin() + 1;
}

std::int64_t equivalent_rank(std::span<const double> singular_values,
                             const RankThreshold& threshold) {
  const bool squares = threshold.of == RankShare::energy;
  const double total = squares ? sum_of_squares(singular_values) : sum_all(singular_values);
  if (!(total > 0)) return 0;
  // Tables ask for many ranks while they are drawn: the shares behind the rank are not computed.
  double sum = 0;
  for (std::size_t t = 0; t < singular_values.size(); ++t) {
    sum += squares ? singular_values[t] * singular_values[t] : singular_values[t];
    if (sum / total >= threshold.level) return static_cast<std::int64_t>(t) + 1;
  }
  return std::ssize(singular_values);
}

double gap_ratio(std::span<const double> singular_values) {
  const bool known = singular_values.size() > 1 && singular_values.front() > 0;
  return known ? singular_values[1] / singular_values.front()
               : std::numeric_limits<double>::quiet_NaN();
}

double effective_rank(std::span<const double> singular_values) {
  const double total = sum_all(singular_values);
  if (!(total > 0)) return 0;
  double entropy = 0;
  for (const double value : singular_values) {
    const double p = value / total;
    if (p > 0) entropy -= p * std::log(p);
  }
  return std::exp(entropy);
}

double stable_rank(std::span<const double> singular_values) {
  if (singular_values.empty() || !(singular_values.front() > 0)) return 0;
  return sum_of_squares(singular_values) / (singular_values.front() * singular_values.front());
}

double participation_rank(std::span<const double> singular_values) {
  if (singular_values.empty() || !(singular_values.front() > 0)) return 0;
  // Values relative to σ_1 keep fourth powers in range.
  double squares = 0, fourths = 0;
  for (const double value : singular_values) {
    const double square = std::pow(value / singular_values.front(), 2);
    squares += square;
    fourths += square * square;
  }
  return squares * squares / fourths;
}

double entropy_rank(std::span<const double> singular_values) {
  return effective_rank(squares_of(singular_values));
}

std::int64_t numerical_rank(std::span<const double> singular_values, std::int64_t larger_extent,
                            double epsilon) {
  if (singular_values.empty()) return 0;
  const double tolerance = static_cast<double>(larger_extent) * epsilon * singular_values.front();
  return std::count_if(singular_values.begin(), singular_values.end(),
                       [tolerance](double value) { return value > tolerance; });
}

double rank_one_distance(std::span<const double> singular_values) {
  const double total = sum_of_squares(singular_values);
  if (!(total > 0)) return 0;
  return std::sqrt(sum_of_squares(singular_values.subspan(1)) / total);
}

}  // namespace attnscope
