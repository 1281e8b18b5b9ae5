// cosFormer transcribed from its equation (Qin et al. 2022, Section 3): every pair, without
// factors.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

NaiveMap map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const std::int64_t n = input.queries.rows(), m = input.keys.rows();
  const std::int64_t d = input.queries.cols() / input.heads;
  std::int64_t span = TypedValues(choice.parameters).whole("span");
  if (span == 0) span = input.causal ? 1024 : std::max(n, m);
  const auto positive = [&](const ConstMatrixMap& rows, std::int64_t i, std::int64_t c) {
    return std::max(0.0, static_cast<double>(rows(i, head * d + c)));
  };
  NaiveMap map;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double>& row = map.emplace_back();
    double sum = 0;
    for (std::int64_t j = 0; j < m; ++j) {
      double product = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        product += positive(input.queries, i, c) * positive(input.keys, j, c);
      }
      const double distance = static_cast<double>(i - j) / static_cast<double>(span);
      const bool hidden = input.causal && j > i;
      row.push_back(hidden ? 0 : product * std::cos(std::numbers::pi / 2 * distance));
      sum += row.back();
    }
    for (double& weight : row) weight /= std::max(sum, 1e-6);
  }
  return map;
}

/// relu(x) cos and relu(x) sin. The angles are the same in every head.
test::Rows features(const test::Rows& rows) {
  using test::Counted;
  Counted::enter("features");
  test::Rows both;
  for (const test::Row& row : rows) {
    test::Row& feature = both.emplace_back();
    for (const Counted value : row) {
      const Counted positive = value < Counted(0) ? Counted(0) : value;
      feature.push_back(positive * 0.8);
      feature.push_back(positive * 0.6);
    }
  }
  return both;
}

void count(const AttentionShape& s, const TypedValues&) {
  using test::Counted;
  Counted::enter("features");
  for (std::int64_t token = 0; token < s.queries + s.keys; ++token) {
    const Counted angle = Counted(0.1) * static_cast<double>(token);
    static_cast<void>(exp(angle));  // cosine and sine, counted like exp
    static_cast<void>(exp(angle));
  }
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const test::Rows queries = features(test::random_rows(s.queries, s.head_width));
    const test::Rows keys = features(test::random_rows(s.keys, s.head_width));
    test::linear_attention(queries, keys, test::random_rows(s.keys, s.value_width));
    Counted::enter("normaliser");
    for (std::int64_t i = 0; i < s.queries; ++i) static_cast<void>(Counted(1) < Counted(2));
  }
}

}  // namespace

NaiveTwin cosformer_twin() {
  return {.name = "cosformer",
          .map = map,
          .cases = {{}, {{{"span", std::int64_t{5000}}}}},
          .knows_order = true,
          .count = count,
          .counted = {
              {.shape = {.queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4}}}};
}

}  // namespace attnscope
