#include "analysis/sweep/statistics.h"

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace attnscope {

namespace {

/// −Σ α ln α / ln M: 1 if all tokens have equal importance, 0 if one token has all of it.
double normalised_entropy(const ConstMatrixMap& importance) {
  double entropy = 0;
  for (const float weight : importance.reshaped()) {
    if (weight > 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  }
  const auto tokens = static_cast<double>(importance.size());
  return tokens > 1 ? entropy / std::log(tokens) : 0;
}

double largest(const ConstMatrixMap& importance) {
  return static_cast<double>(importance.maxCoeff());
}

/// Number of tokens per code; codes are rows of signs.
std::map<std::vector<bool>, std::int64_t> occupancy(const ConstMatrixMap& codes) {
  std::map<std::vector<bool>, std::int64_t> counts;
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    std::vector<bool> code;
    for (Eigen::Index bit = 0; bit < codes.cols(); ++bit) code.push_back(codes(row, bit) > 0);
    ++counts[code];
  }
  return counts;
}

double distinct_codes(const ConstMatrixMap& codes) {
  return static_cast<double>(occupancy(codes).size());
}

double code_entropy(const ConstMatrixMap& codes) {
  double entropy = 0;
  for (const auto& [code, count] : occupancy(codes)) {
    const double share = static_cast<double>(count) / static_cast<double>(codes.rows());
    entropy -= share * std::log2(share);
  }
  return entropy;
}

/// |mean sign| of a bit over tokens, mean over bits: 0 if every bit splits the tokens in halves.
double bit_imbalance(const ConstMatrixMap& codes) {
  double sum = 0;
  for (Eigen::Index bit = 0; bit < codes.cols(); ++bit) {
    const auto positive = static_cast<double>((codes.col(bit).array() > 0).count());
    sum += std::abs(2 * positive / static_cast<double>(codes.rows()) - 1);
  }
  return sum / static_cast<double>(codes.cols());
}

constexpr std::array<SweepStatistic, 8> list = {{
    {"entropy", "entropy of attention (nats)", kMapQuantity, nullptr, &RowWeights::entropy},
    {"normalised_entropy", "entropy of attention / ln n", kMapQuantity, nullptr,
     &RowWeights::normalised_entropy},
    {"sink", "strongest sink α", kMapQuantity, nullptr, &RowWeights::strongest_sink},
    {"importance_entropy", "entropy of token importance (share of ln N)", "importance",
     normalised_entropy},
    {"largest_importance", "largest importance of a token", "importance", largest},
    {"distinct_codes", "distinct hash codes", "codes", distinct_codes},
    {"code_entropy", "entropy of hash codes (bits)", "codes", code_entropy},
    {"bit_imbalance", "imbalance of hash bits, 0 to 1", "codes", bit_imbalance},
}};

}  // namespace

std::span<const SweepStatistic> sweep_statistics() { return list; }

std::map<std::string_view, double> map_statistics(MatrixD map, const SeenKeys& seen) {
  std::optional<RowWeights> weights;
  if (state_of(map) == HeadState::ready) weights.emplace(std::move(map), seen);
  std::map<std::string_view, double> values;
  for (const SweepStatistic& statistic : list) {
    if (statistic.quantity != kMapQuantity) continue;
    values[statistic.name] = weights ? (*weights.*statistic.of_weights)() : HeadRow::kUnknown;
  }
  return values;
}

}  // namespace attnscope
