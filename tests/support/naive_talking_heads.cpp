// Talking heads transcribed from the equations (Shazeer et al. 2020, Section 3) with CaiT's biases:
// every pair of heads for every pair of tokens.
#include <algorithm>
#include <cmath>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

/// The softmax of one query's mixed scores in head `head`; 0 for keys that it does not see.
std::vector<double> mixed_softmax(const AttentionInput& input, std::int64_t head, std::int64_t i) {
  const std::int64_t d = input.queries.cols() / input.heads;
  const Tensor& mixing = input.parameters->at("proj_l");
  const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
  std::vector<double> row;
  double largest = -1e300, sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) {
    auto score = static_cast<double>(input.parameters->at("proj_l_bias").data()[head]);
    for (std::int64_t other = 0; other < input.heads; ++other) {
      double product = 0;
      for (std::int64_t c = other * d; c < (other + 1) * d; ++c) {
        product += static_cast<double>(input.queries(i, c)) * static_cast<double>(input.keys(j, c));
      }
      score += static_cast<double>(mixing.matrix()(head, other)) * product /
               std::sqrt(static_cast<double>(d));
    }
    row.push_back(score);
    largest = std::max(largest, score);
  }
  for (double& weight : row) sum += weight = std::exp(weight - largest);
  for (double& weight : row) weight /= sum;
  row.resize(static_cast<std::size_t>(input.keys.rows()), 0);
  return row;
}

NaiveMap map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  const Tensor& mixing = input.parameters->at("proj_w");
  const auto bias = static_cast<double>(input.parameters->at("proj_w_bias").data()[head]);
  NaiveMap map;
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    std::vector<double>& row = map.emplace_back(static_cast<std::size_t>(input.keys.rows()), 0.0);
    const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
    for (std::int64_t j = 0; j < seen; ++j) row[static_cast<std::size_t>(j)] = bias;
    for (std::int64_t other = 0; other < input.heads; ++other) {
      const std::vector<double> weights = mixed_softmax(input, other, i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] += static_cast<double>(mixing.matrix()(head, other)) * weights[j];
      }
    }
  }
  return map;
}

/// Each cell of each head as a weighted sum over the heads plus a bias.
std::vector<test::Rows> mixed(const std::vector<test::Rows>& heads, const char* component) {
  using test::Counted;
  Counted::enter(component);
  std::vector<test::Rows> result = heads;
  for (test::Rows& of_head : result) {
    for (std::size_t i = 0; i < of_head.size(); ++i) {
      for (std::size_t j = 0; j < of_head[i].size(); ++j) {
        Counted sum = 0;
        for (const test::Rows& other : heads) sum += Counted(0.3) * other[i][j];
        of_head[i][j] = sum + 0.1;
      }
    }
  }
  return result;
}

void count(const AttentionShape& s, const TypedValues&) {
  using test::Counted;
  Counted::enter("scores");
  std::vector<test::Rows> heads;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    heads.push_back(test::products(test::random_rows(s.queries, s.head_width),
                                   test::random_rows(s.keys, s.head_width)));
  }
  heads = mixed(heads, "mixing of scores");
  for (test::Rows& rows : heads) test::softmax_in_place(rows);
  heads = mixed(heads, "mixing of weights");
  Counted::enter("values");
  for (const test::Rows& rows : heads) {
    // The values are the rows of their transpose.
    static_cast<void>(test::products(rows, test::random_rows(s.value_width, s.keys)));
  }
}

void prepare(NamedTensors& tensors) {
  const auto heads = static_cast<double>(tensors.at("proj_l").extent(0));
  for (auto& [name, tensor] : tensors) {
    for (float& value : tensor.values()) {
      value *= static_cast<float>(1 / std::sqrt(heads));
      // Without cancelling sums, weights can be compared with a relative tolerance.
      if (name.starts_with("proj_w")) value = std::abs(value);
      if (name == "proj_w_bias") value *= 0.01F;
    }
  }
}

}  // namespace

NaiveTwin talking_heads_twin() {
  return {.name = "talking-heads",
          .map = map,
          .cases = {{}},
          .prepare = prepare,
          .count = count,
          .counted = {
              {.shape = {.queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4}}}};
}

}  // namespace attnscope
