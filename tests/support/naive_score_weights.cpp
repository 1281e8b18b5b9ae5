// The mechanisms of core/attention/score_weights.cpp transcribed from their equations: every pair
// of tokens, and thresholds by sorting each row.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

using Weights = std::vector<double>;
constexpr AttentionShape kEightKeys{
    .queries = 5, .keys = 8, .heads = 2, .head_width = 3, .value_width = 4};

/// The map of one head whose visible scores of a query become weights by `weigh`.
NaiveMap map_by(const AttentionInput& input, std::int64_t head,
                const std::function<Weights(Weights)>& weigh) {
  const std::int64_t d = input.queries.cols() / input.heads;
  NaiveMap map;
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
    Weights scores;
    for (std::int64_t j = 0; j < seen; ++j) {
      double product = 0;
      for (std::int64_t c = head * d; c < (head + 1) * d; ++c) {
        product += static_cast<double>(input.queries(i, c)) * static_cast<double>(input.keys(j, c));
      }
      scores.push_back(product / std::sqrt(static_cast<double>(d)));
    }
    map.push_back(weigh(std::move(scores)));
    map.back().resize(static_cast<std::size_t>(input.keys.rows()), 0);
  }
  return map;
}

/// Runs `weigh` on counting scores, in the component "weights".
void count_by(const AttentionShape& s, const std::function<void(test::Row&)>& weigh) {
  using test::Counted;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Counted::enter("scores");
    test::Rows rows = test::products(test::random_rows(s.queries, s.head_width),
                                     test::random_rows(s.keys, s.head_width));
    Counted::enter("weights");
    for (test::Row& row : rows) {
      for (Counted& score : row) score = score * 0.5;
      weigh(row);
    }
    Counted::enter("values");
    // The values are the rows of their transpose.
    static_cast<void>(test::products(rows, test::random_rows(s.value_width, s.keys)));
  }
}

/// The scores in descending order. A merge sort compares log2(8) times per score of eight.
test::Row sorted(test::Row row) {
  std::ranges::sort(row, [](const auto& a, const auto& b) { return a.value() > b.value(); });
  for (std::size_t i = 0; i < 3 * row.size(); ++i) {
    static_cast<void>(test::Counted(0) < test::Counted(1));
  }
  return row;
}

NaiveMap sigmoid_map(const MechanismChoice& choice, const AttentionInput& input,
                     std::int64_t head) {
  const double bias = TypedValues(choice.parameters).number("bias");
  return map_by(input, head, [bias](Weights row) {
    const double shift = bias - std::log(static_cast<double>(row.size()));
    for (double& score : row) score = 1 / (1 + std::exp(-(score + shift)));
    return row;
  });
}

NaiveMap relu_map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  return map_by(input, head, [](Weights row) {
    for (double& score : row) score = std::max(score, 0.0) / static_cast<double>(row.size());
    return row;
  });
}

NaiveMap ssmax_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const TypedValues values(choice.parameters);
  return map_by(input, head, [&values](Weights row) {
    const double factor = values.number("factor") * std::log(static_cast<double>(row.size())) +
                          values.number("offset");
    double largest = -1e300, sum = 0;
    for (const double score : row) largest = std::max(largest, factor * score);
    for (double& score : row) sum += score = std::exp(factor * score - largest);
    for (double& weight : row) weight /= sum;
    return row;
  });
}

NaiveMap sparsemax_map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  return map_by(input, head, [](Weights row) {
    Weights sorted = row;
    std::ranges::sort(sorted, std::greater());
    double sum = 0, threshold = 0;
    for (std::size_t k = 1; k <= sorted.size(); ++k) {
      sum += sorted[k - 1];
      const auto count = static_cast<double>(k);
      if (1 + count * sorted[k - 1] > sum) threshold = (sum - 1) / count;
    }
    for (double& score : row) score = std::max(score - threshold, 0.0);
    return row;
  });
}

NaiveMap entmax_map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  return map_by(input, head, [](Weights row) {
    for (double& score : row) score /= 2;
    Weights sorted = row;
    std::ranges::sort(sorted, std::greater());
    double sum = 0, squares = 0, threshold = 0;
    for (std::size_t k = 1; k <= sorted.size(); ++k) {
      sum += sorted[k - 1];
      squares += sorted[k - 1] * sorted[k - 1];
      const auto count = static_cast<double>(k);
      const double mean = sum / count, left = (1 - (squares - sum * mean)) / count;
      const double candidate = mean - std::sqrt(std::max(left, 0.0));
      if (candidate <= sorted[k - 1]) threshold = candidate;
    }
    for (double& score : row) score = std::pow(std::max(score - threshold, 0.0), 2);
    return row;
  });
}

}  // namespace

NaiveTwin sigmoid_twin() {
  return {.name = "sigmoid",
          .map = sigmoid_map,
          .cases = {{}, {{{"bias", 2.5}}}},
          .count =
              [](const AttentionShape& s, const TypedValues& values) {
                const test::Counted shift =
                    values.number("bias") - std::log(static_cast<double>(s.keys));
                count_by(s, [&](test::Row& row) {
                  for (test::Counted& score : row) {
                    score = test::Counted(1) / (test::Counted(1) + exp(-(score + shift)));
                  }
                });
              },
          .counted = {{.shape = kEightKeys}}};
}

NaiveTwin relu_twin() {
  return {.name = "relu",
          .map = relu_map,
          .cases = {{}},
          .differences = true,
          .count =
              [](const AttentionShape& s, const TypedValues&) {
                count_by(s, [](test::Row& row) {
                  for (test::Counted& score : row) score = score < 0.0 ? 0.0 : score;
                });
              },
          .counted = {{.shape = kEightKeys}}};
}

NaiveTwin ssmax_twin() {
  return {.name = "ssmax",
          .map = ssmax_map,
          .cases = {{}, {{{"factor", 0.4}, {"offset", 0.5}}}},
          .count = [](const AttentionShape& s, const TypedValues&) { test::count_softmax(s); },
          .counted = {{.shape = kEightKeys}}};
}

NaiveTwin sparsemax_twin() {
  return {.name = "sparsemax",
          .map = sparsemax_map,
          .cases = {{}},
          .differences = true,
          .count =
              [](const AttentionShape& s, const TypedValues&) {
                count_by(s, [](test::Row& row) {
                  test::Counted sum = 0, kept = 0, count = 0;
                  double k = 0;
                  for (const test::Counted& score : sorted(row)) {
                    sum += score;
                    k += 1;
                    if (sum < test::Counted(1) + test::Counted(k) * score) kept = sum, count = k;
                  }
                  const test::Counted threshold = (kept - 1.0) / count;
                  for (test::Counted& score : row) {
                    score = score - threshold;
                    score = score < 0.0 ? 0.0 : score;
                  }
                });
              },
          .counted = {{.shape = kEightKeys}}};
}

NaiveTwin entmax_twin() {
  return {.name = "entmax",
          .map = entmax_map,
          .cases = {{}},
          .differences = true,
          .count =
              [](const AttentionShape& s, const TypedValues&) {
                count_by(s, [](test::Row& row) {
                  test::Counted sum = 0, squares = 0, threshold = 0;
                  double k = 0;
                  for (const test::Counted& score : sorted(row)) {
                    sum += score;
                    squares += score * score;
                    k += 1;
                    const test::Counted mean = sum / k;
                    const test::Counted left = (test::Counted(1) - (squares - sum * mean)) / k;
                    const test::Counted candidate = mean - sqrt(left < 0.0 ? 0.0 : left);
                    threshold = score < candidate ? threshold : candidate;
                  }
                  for (test::Counted& score : row) {
                    score = score - threshold;
                    score = score < 0.0 ? 0.0 : score;
                    score = score * score;
                  }
                });
              },
          .counted = {{.shape = kEightKeys}}};
}

}  // namespace attnscope
