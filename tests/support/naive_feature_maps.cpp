// The mechanisms of core/attention/feature_maps.cpp transcribed from the equations and their
// authors' code: every pair of tokens, without factors.
#include <algorithm>
#include <cmath>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_convolution.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

using FeatureRows = std::vector<std::vector<double>>;
constexpr AttentionShape kFiveQueries{
    .queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4};
constexpr AttentionShape kEightTokens{
    .queries = 8, .keys = 8, .heads = 2, .head_width = 3, .value_width = 4};

FeatureRows doubles(const ConstMatrixMap& rows) {
  FeatureRows result;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    result.emplace_back();
    for (std::int64_t c = 0; c < rows.cols(); ++c) {
      result.back().push_back(static_cast<double>(rows(i, c)));
    }
  }
  return result;
}

/// The tensor's values, or `otherwise` for each of `count`.
std::vector<double> values_or(const AttentionInput& input, const char* name, std::int64_t count,
                              double otherwise) {
  if (!input.parameters || !input.parameters->contains(name)) {
    return std::vector<double>(static_cast<std::size_t>(count), otherwise);
  }
  const Tensor& tensor = input.parameters->find(name)->second;
  return {tensor.values().begin(), tensor.values().end()};
}

double product_in_head(const std::vector<double>& a, const std::vector<double>& b,
                       const AttentionInput& input, std::int64_t head) {
  const std::size_t d = a.size() / static_cast<std::size_t>(input.heads);
  double sum = 0;
  for (std::size_t c = static_cast<std::size_t>(head) * d;
       c < (static_cast<std::size_t>(head) + 1) * d; ++c) {
    sum += a[c] * b[c];
  }
  return sum;
}

/// L_i·R_j / (q_i·Σ k + 10⁻⁶ M), of one head of these features.
NaiveMap quotient_map(const FeatureRows& left, const FeatureRows& right, const FeatureRows& queries,
                      const FeatureRows& keys, const AttentionInput& input, std::int64_t head) {
  NaiveMap map;
  for (std::size_t i = 0; i < left.size(); ++i) {
    double sum = 1e-6 * static_cast<double>(keys.size());
    for (const auto& key : keys) sum += product_in_head(queries[i], key, input, head);
    map.emplace_back();
    for (const auto& row : right) {
      map.back().push_back(product_in_head(left[i], row, input, head) / sum);
    }
  }
  return map;
}

double length_of(const std::vector<double>& row) {
  double squares = 0;
  for (const double value : row) squares += value * value;
  return std::sqrt(squares);
}

NaiveMap focused_map(const MechanismChoice& choice, const AttentionInput& input,
                     std::int64_t head) {
  const double power = TypedValues(choice.parameters).number("power");
  const std::int64_t channels = input.keys.cols();
  const std::vector<double> scale = values_or(input, "scale", channels, 0);
  const std::vector<double> encoding =
      values_or(input, "positional_encoding", input.keys.size(), 0);
  const auto features = [&](FeatureRows rows) {
    for (std::vector<double>& row : rows) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] = (std::max(row[c], 0.0) + 1e-6) / std::log(1 + std::exp(scale[c]));
      }
      std::vector<double> powers = row;
      for (double& value : powers) value = std::pow(value, power);
      const double ratio = length_of(row) / length_of(powers);
      for (std::size_t c = 0; c < row.size(); ++c) row[c] = powers[c] * ratio;
    }
    return rows;
  };
  FeatureRows keys = doubles(input.keys);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    for (std::size_t c = 0; c < keys[j].size(); ++c) {
      keys[j][c] += encoding[j * static_cast<std::size_t>(channels) + c];
    }
  }
  const FeatureRows left = features(doubles(input.queries)), right = features(std::move(keys));
  NaiveMap map = quotient_map(left, right, left, right, input, head);
  add_naive_convolution(choice, input, head, map);
  return map;
}

NaiveMap inline_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const FeatureRows queries = doubles(input.queries), keys = doubles(input.keys);
  const double scale = 1 / std::sqrt(static_cast<double>(input.queries.cols() / input.heads));
  const auto m = static_cast<double>(keys.size());
  NaiveMap map;
  for (const auto& query : queries) {
    std::vector<double>& row = map.emplace_back();
    double mean = 0;
    for (const auto& key : keys) {
      row.push_back(scale * product_in_head(query, key, input, head));
      mean += row.back() / m;
    }
    for (double& weight : row) weight = (weight - mean + 1) / m;
  }
  add_naive_convolution(choice, input, head, map);
  return map;
}

NaiveMap sima_map(const MechanismChoice&, const AttentionInput& input, std::int64_t head) {
  const auto over_norms = [](FeatureRows rows) {
    for (std::size_t c = 0; c < rows[0].size(); ++c) {
      double norm = 0;
      for (const auto& row : rows) norm += std::abs(row[c]);
      for (auto& row : rows) row[c] /= std::max(norm, 1e-12);
    }
    return rows;
  };
  const FeatureRows queries = over_norms(doubles(input.queries));
  const FeatureRows keys = over_norms(doubles(input.keys));
  NaiveMap map;
  for (const auto& query : queries) {
    map.emplace_back();
    for (const auto& key : keys) {
      map.back().push_back(product_in_head(query, key, input, head));
    }
  }
  return map;
}

/// Q (Kᵀ V) in the component "values".
test::Rows count_products(const test::Rows& queries, const test::Rows& transposed_keys,
                          std::int64_t value_width) {
  test::Counted::enter("values");
  const auto keys = static_cast<std::int64_t>(transposed_keys[0].size());
  return test::products(queries,
                        test::products(test::random_rows(value_width, keys), transposed_keys));
}

void count_focused(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  Counted::enter("features");
  test::Row scale = test::random_rows(1, s.heads * s.head_width)[0];
  for (Counted& one : scale) one = exp(Counted(1) + exp(one));  // the logarithm counts like exp
  for (const test::Row& row : test::random_rows(s.queries + s.keys, s.heads * s.head_width)) {
    Counted length = 0, length_of_powers = 0;
    test::Row powers;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Counted positive = row[c] < Counted(0) ? Counted(0) : row[c];
      const Counted u = (positive + 1e-6) / scale[c];
      length += u * u;
      powers.push_back(exp(u));  // a power counts like exp
      length_of_powers += powers.back() * powers.back();
    }
    const Counted ratio = sqrt(length) / sqrt(length_of_powers);
    for (Counted& power : powers) power = power * ratio;
  }
  test::guarded_linear_attention(s);
  count_convolution(s, values);
}

test::Row mean_of(const test::Rows& rows) {
  test::Row mean(rows[0].size(), 0.0);
  for (const test::Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) mean[c] += row[c];
  }
  for (test::Counted& value : mean) value = value / static_cast<double>(rows.size());
  return mean;
}

void count_inline(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const test::Rows queries = test::random_rows(s.queries, s.head_width);
    Counted::enter("means");
    const test::Row key = mean_of(test::random_rows(s.keys, s.head_width));
    const test::Row value = mean_of(test::random_rows(s.keys, s.value_width));
    test::Rows outputs =
        count_products(queries, test::random_rows(s.head_width, s.keys), s.value_width);
    Counted::enter("scaling");
    for (std::int64_t i = 0; i < s.head_width * s.value_width; ++i) {
      static_cast<void>(Counted(0.5) * 0.1);
    }
    Counted::enter("correction");
    for (std::size_t i = 0; i < queries.size(); ++i) {
      Counted product = 0;
      for (std::size_t c = 0; c < key.size(); ++c) product += queries[i][c] * key[c];
      const Counted left = Counted(1) - product * 0.5;
      for (std::size_t c = 0; c < value.size(); ++c) outputs[i][c] += left * value[c];
    }
  }
  count_convolution(s, values);
}

void count_sima(const AttentionShape& s, const TypedValues&) {
  using test::Counted;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    for (const std::int64_t tokens : {s.queries, s.keys}) {
      Counted::enter("norms");
      for (test::Row& column : test::Rows(test::random_rows(s.head_width, tokens))) {
        Counted norm = 0;
        for (const Counted& value : column) norm += abs(value);
        norm = norm < Counted(1e-12) ? Counted(1e-12) : norm;
        for (Counted& value : column) value = value / norm;
      }
    }
    count_products(test::random_rows(s.queries, s.head_width),
                   test::random_rows(s.head_width, s.keys), s.value_width);
  }
}

}  // namespace

NaiveTwin focused_twin() {
  return {.name = "focused",
          .map = focused_map,
          .cases = {{}, {{{"power", 1.0}}}, {{{"power", 8.0}}}},
          .knows_order = true,
          .count = count_focused,
          .counted = {{.shape = kFiveQueries},
                      {.parameters = {{"term", true}, {"kernel", std::int64_t{3}}},
                       .shape = kEightTokens}}};
}

NaiveTwin inline_twin() {
  return {.name = "inline",
          .map = inline_map,
          .cases = {{}},
          .differences = true,
          .count = count_inline,
          .counted = {{.shape = kFiveQueries},
                      {.parameters = {{"term", true}}, .shape = kEightTokens}}};
}

NaiveTwin sima_twin() {
  return {.name = "sima",
          .map = sima_map,
          .cases = {{}},
          .differences = true,
          .count = count_sima,
          .counted = {{.shape = kFiveQueries}}};
}

}  // namespace attnscope
