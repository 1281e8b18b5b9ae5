// Softmax with a sink transcribed from its equation (Miller 2023): every pair of tokens, and one
// more logit in every row.
#include <algorithm>
#include <cmath>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

NaiveMap map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const double sink = TypedValues(choice.parameters).number("sink");
  const std::int64_t d = input.queries.cols() / input.heads;
  NaiveMap map;
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
    std::vector<double>& row = map.emplace_back();
    double largest = sink;
    for (std::int64_t j = 0; j < seen; ++j) {
      double product = 0;
      for (std::int64_t c = head * d; c < (head + 1) * d; ++c) {
        product += static_cast<double>(input.queries(i, c)) * static_cast<double>(input.keys(j, c));
      }
      row.push_back(product / std::sqrt(static_cast<double>(d)));
      largest = std::max(largest, row.back());
    }
    double sum = std::exp(sink - largest);
    for (double& weight : row) sum += weight = std::exp(weight - largest);
    for (double& weight : row) weight /= sum;
    row.resize(static_cast<std::size_t>(input.keys.rows()), 0);
  }
  return map;
}

void count(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  const Counted sink = values.number("sink");
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Counted::enter("scores");
    test::Rows rows = test::products(test::random_rows(s.queries, s.head_width),
                                     test::random_rows(s.keys, s.head_width));
    Counted::enter("softmax");
    for (test::Row& row : rows) {
      Counted largest = -1e300, sum = 0;
      for (Counted& score : row) score = score * 0.5;
      largest = largest < sink ? sink : largest;
      for (const Counted& score : row) largest = largest < score ? score : largest;
      sum += exp(sink - largest);
      for (Counted& score : row) sum += score = exp(score - largest);
      for (Counted& score : row) score = score / sum;
    }
    Counted::enter("values");
    // The values are the rows of their transpose.
    static_cast<void>(test::products(rows, test::random_rows(s.value_width, s.keys)));
  }
}

}  // namespace

NaiveTwin softmax_sink_twin() {
  return {.name = "softmax-sink",
          .map = map,
          .cases = {{}, {{{"sink", 3.5}}}, {{{"sink", -4.0}}}},
          .count = count,
          .counted = {
              {.shape = {.queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4}}}};
}

}  // namespace attnscope
