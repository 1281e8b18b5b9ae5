// Differential attention transcribed from its equation (Ye et al. 2024): two softmaxes over every
// pair of tokens, and their difference.
#include <algorithm>
#include <cmath>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

/// Softmax of the scaled products of columns [first, first + width) for query i.
std::vector<double> half_row(const AttentionInput& input, std::int64_t i, std::int64_t first,
                             std::int64_t width) {
  const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
  std::vector<double> row;
  double largest = -1e300, sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) {
    double product = 0;
    for (std::int64_t c = first; c < first + width; ++c) {
      product += static_cast<double>(input.queries(i, c)) * static_cast<double>(input.keys(j, c));
    }
    row.push_back(width > 0 ? product / std::sqrt(static_cast<double>(width)) : 0);
    largest = std::max(largest, row.back());
  }
  for (double& weight : row) sum += weight = std::exp(weight - largest);
  for (double& weight : row) weight /= sum;
  return row;
}

double product_of(const NamedTensors& tensors, const char* query, const char* key) {
  double product = 0;
  for (std::int64_t c = 0; c < tensors.at(query).size(); ++c) {
    product += static_cast<double>(tensors.at(query).data()[c]) *
               static_cast<double>(tensors.at(key).data()[c]);
  }
  return product;
}

NaiveMap differential_map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  const std::int64_t d = input.queries.cols() / input.heads, second = d / 2;
  double lambda = 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(input.layer));
  if (input.parameters && input.parameters->contains("lambda_q1")) {
    lambda += std::exp(product_of(*input.parameters, "lambda_q1", "lambda_k1")) -
              std::exp(product_of(*input.parameters, "lambda_q2", "lambda_k2"));
  }
  NaiveMap map;
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    std::vector<double> row = half_row(input, i, head * d, d - second);
    const std::vector<double> other = half_row(input, i, head * d + d - second, second);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] -= lambda * other[j];
    row.resize(static_cast<std::size_t>(input.keys.rows()), 0);
    map.push_back(std::move(row));
  }
  return map;
}

void count_differential(const AttentionShape& s, const TypedValues&) {
  using test::Counted;
  const Counted lambda = 0.2;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const auto products_of_half = [&s] {
      return test::products(test::random_rows(s.queries, s.head_width / 2),
                            test::random_rows(s.keys, s.head_width / 2));
    };
    Counted::enter("scores");
    test::Rows first = products_of_half(), second = products_of_half();
    test::softmax_in_place(first);
    test::softmax_in_place(second);
    Counted::enter("difference");
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (std::size_t j = 0; j < first[i].size(); ++j) {
        first[i][j] = first[i][j] - lambda * second[i][j];
      }
    }
    Counted::enter("values");
    // The values are the rows of their transpose.
    static_cast<void>(test::products(first, test::random_rows(s.value_width, s.keys)));
  }
}

}  // namespace

NaiveTwin differential_twin() {
  return {.name = "differential",
          .map = differential_map,
          .cases = {{}},
          .differences = true,
          .prepare =
              [](NamedTensors& tensors) {
                for (auto& [name, tensor] : tensors) {
                  for (float& value : tensor.values()) value *= 0.1F;
                }
              },
          .count = count_differential,
          .counted = {
              {.shape = {.queries = 5, .keys = 7, .heads = 2, .head_width = 4, .value_width = 3}}}};
}

}  // namespace attnscope
