#include "analysis/hash_codes/code_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attnscope {

namespace {

struct UsedCode {
  std::int64_t tokens = 0;
  std::size_t first = 0;  // first token with this code
};

std::map<std::uint64_t, UsedCode> used_codes(const HashCodes& codes) {
  std::map<std::uint64_t, UsedCode> used;
  for (std::size_t i = 0; i < codes.words.size(); ++i) {
    UsedCode& code = used.try_emplace(codes.words[i], UsedCode{0, i}).first->second;
    ++code.tokens;
  }
  return used;
}

MatrixD correlation_of(const MatrixD& signs) {
  const MatrixD centred = signs.rowwise() - signs.colwise().mean();
  const Eigen::VectorXd lengths = centred.colwise().norm();
  MatrixD correlation = centred.transpose() * centred;
  for (Eigen::Index r = 0; r < correlation.rows(); ++r) {
    for (Eigen::Index s = 0; s < correlation.cols(); ++s) {
      const double both = lengths(r) * lengths(s);
      correlation(r, s) = both > 0 ? std::clamp(correlation(r, s) / both, -1.0, 1.0)
                                   : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return correlation;
}

}  // namespace

CodeStatistics code_statistics(const HashCodes& codes) {
  CodeStatistics statistics;
  statistics.tokens = codes.tokens();
  statistics.bits = codes.bits();
  const auto count = static_cast<double>(statistics.tokens);
  for (const auto& [word, used] : used_codes(codes)) {
    ++statistics.distinct;
    statistics.commonest = std::max(statistics.commonest, used.tokens);
    const double share = static_cast<double>(used.tokens) / count;
    statistics.entropy -= share * std::log2(share);
  }
  if (statistics.tokens > 0) {
    statistics.greatest_entropy = std::min(static_cast<double>(statistics.bits), std::log2(count));
  }
  for (std::int64_t bit = 0; bit < statistics.bits; ++bit) {
    const auto set = std::count_if(codes.words.begin(), codes.words.end(),
                                   [bit](std::uint64_t word) { return (word >> bit & 1U) != 0; });
    statistics.balance.push_back(count > 0 ? static_cast<double>(set) / count : 0);
  }
  statistics.correlation = correlation_of(codes.signs.cast<double>());
  return statistics;
}

std::vector<std::int64_t> code_ranks(const HashCodes& codes) {
  const std::map<std::uint64_t, UsedCode> used = used_codes(codes);
  std::vector<std::pair<std::uint64_t, UsedCode>> order(used.begin(), used.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.second.tokens != b.second.tokens) return a.second.tokens > b.second.tokens;
    return a.second.first < b.second.first;
  });
  std::map<std::uint64_t, std::int64_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i].first] = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> ranks;
  for (const std::uint64_t word : codes.words) ranks.push_back(rank[word]);
  return ranks;
}

}  // namespace attnscope
