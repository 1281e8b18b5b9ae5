// The mechanisms of core/attention/rotary_maps.cpp transcribed from the equations and their
// authors' code: every pair of tokens, and rotations as complex numbers.
#include <cmath>
#include <complex>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_convolution.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

using TokenRows = std::vector<std::vector<double>>;
constexpr AttentionShape kWidthOfNine{
    .queries = 5, .keys = 7, .heads = 2, .head_width = 9, .value_width = 4};

/// 1 + elu of columns [first, first + count).
TokenRows one_plus_elu(const ConstMatrixMap& all, std::int64_t first, std::int64_t count) {
  TokenRows rows;
  for (std::int64_t i = 0; i < all.rows(); ++i) {
    rows.emplace_back();
    for (std::int64_t c = first; c < first + count; ++c) {
      const auto x = static_cast<double>(all(i, c));
      rows.back().push_back(x > 0 ? x + 1 : std::exp(x));
    }
  }
  return rows;
}

/// Multiplies pairs of channels, as complex numbers, by e^(i·place·frequency): the first half of
/// the pairs with the row of the token, the second half with its column.
TokenRows rotated(TokenRows rows, const AttentionInput& input,
                  const std::vector<double>& frequencies) {
  const bool grid = input.layout && input.layout->has_grid();
  const std::size_t prefix = grid ? static_cast<std::size_t>(input.layout->prefix) : 0;
  const std::size_t columns = grid ? static_cast<std::size_t>(input.layout->columns) : rows.size();
  for (std::size_t i = prefix; i < rows.size(); ++i) {
    const std::size_t row = (i - prefix) / columns, column = (i - prefix) % columns;
    for (std::size_t p = 0; p < frequencies.size(); ++p) {
      for (const bool half : {false, true}) {
        const std::size_t c = 2 * (half ? frequencies.size() + p : p);
        const std::complex<double> turned =
            std::complex(rows[i][c], rows[i][c + 1]) *
            std::polar(1.0, static_cast<double>(half ? column : row) * frequencies[p]);
        rows[i][c] = turned.real();
        rows[i][c + 1] = turned.imag();
      }
    }
  }
  return rows;
}

double product(const std::vector<double>& a, const std::vector<double>& b, std::size_t first,
               std::size_t count) {
  double sum = 0;
  for (std::size_t c = first; c < first + count; ++c) sum += a[c] * b[c];
  return sum;
}

/// L_i·R_j / (q_i·Σ k + 10⁻⁶ M) over channels [first, first + count).
NaiveMap over_sums(const TokenRows& left, const TokenRows& right, const TokenRows& queries,
                   const TokenRows& keys, std::size_t first, std::size_t count) {
  NaiveMap map;
  for (std::size_t i = 0; i < left.size(); ++i) {
    double sum = 1e-6 * static_cast<double>(keys.size());
    for (const auto& key : keys) sum += product(queries[i], key, first, count);
    map.emplace_back();
    for (const auto& row : right) map.back().push_back(product(left[i], row, first, count) / sum);
  }
  return map;
}

NaiveMap rala_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const std::int64_t d = input.queries.cols() / input.heads;
  const TokenRows queries = one_plus_elu(input.queries, head * d, d);
  TokenRows keys = one_plus_elu(input.keys, head * d, d);
  const auto width = static_cast<std::size_t>(d);
  // Softmax of the mean over queries of their scaled products with each key.
  NaiveMap scores(1);
  for (const auto& key : keys) {
    double sum = 0;
    for (const auto& query : queries) sum += product(query, key, 0, width);
    scores[0].push_back(sum / static_cast<double>(queries.size()) /
                        std::sqrt(static_cast<double>(d)));
  }
  const NaiveMap weights = naive_softmax(std::move(scores));
  for (std::size_t j = 0; j < keys.size(); ++j) {
    for (double& value : keys[j]) value *= static_cast<double>(keys.size()) * weights[0][j];
  }
  std::vector<double> frequencies;
  for (std::int64_t p = 0; p < d / 4; ++p) {
    const double place = d / 4 > 1 ? static_cast<double>(p) / static_cast<double>(d / 4 - 1) : 0;
    frequencies.push_back(1 / std::pow(10000, place));
  }
  NaiveMap map = over_sums(rotated(queries, input, frequencies), rotated(keys, input, frequencies),
                           queries, keys, 0, width);
  add_naive_convolution(choice, input, head, map);
  return map;
}

NaiveMap mlla_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const std::int64_t channels = input.queries.cols(), d = channels / input.heads;
  const TokenRows queries = one_plus_elu(input.queries, 0, channels);
  const TokenRows keys = one_plus_elu(input.keys, 0, channels);
  std::vector<double> frequencies;
  for (std::int64_t p = 0; p < channels / 4; ++p) {
    frequencies.push_back(
        1 / std::pow(10000, static_cast<double>(p) / static_cast<double>(channels / 4)));
  }
  NaiveMap map =
      over_sums(rotated(queries, input, frequencies), rotated(keys, input, frequencies), queries,
                keys, static_cast<std::size_t>(head * d), static_cast<std::size_t>(d));
  add_naive_convolution(choice, input, head, map);
  return map;
}

/// 1 + elu of every query and key, and `pairs` turned pairs of channels of every token.
void count_features(const AttentionShape& s, std::int64_t pairs) {
  using test::Counted;
  const std::int64_t tokens = s.queries + s.keys;
  Counted::enter("features");
  for (std::int64_t i = 0; i < s.heads * tokens * s.head_width; ++i) {
    static_cast<void>(Counted(0) < Counted(1));
    static_cast<void>(Counted(0.5) + exp(Counted(0)));
  }
  Counted::enter("rotation");
  for (std::int64_t i = 0; i < tokens * pairs; ++i) {
    const Counted x = 0.3, y = 0.4, cosine = 0.6, sine = 0.8;
    static_cast<void>(x * cosine - y * sine);
    static_cast<void>(y * cosine + x * sine);
  }
}

void count_quotient(const AttentionShape& s, const TypedValues& values) {
  test::guarded_linear_attention(s);
  count_convolution(s, values);
}

void count_rala(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  count_features(s, s.heads * (s.head_width / 4 * 2));
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Counted::enter("key weights");
    test::Row mean(static_cast<std::size_t>(s.head_width), 0.0);
    for (const test::Row& query : test::random_rows(s.queries, s.head_width)) {
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += query[c];
    }
    for (Counted& value : mean) value = value / static_cast<double>(s.queries);
    test::Rows keys = test::random_rows(s.keys, s.head_width);
    test::Row scores = test::products({mean}, keys)[0];
    Counted largest = -1e300, sum = 0;
    for (Counted& score : scores) {
      score = score * 0.3;
      largest = largest < score ? score : largest;
    }
    for (Counted& score : scores) sum += score = exp(score - largest);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const Counted weight = scores[j] / sum * static_cast<double>(s.keys);
      for (Counted& value : keys[j]) value = value * weight;
    }
  }
  count_quotient(s, values);
}

void count_mlla(const AttentionShape& s, const TypedValues& values) {
  count_features(s, s.heads * s.head_width / 4 * 2);
  count_quotient(s, values);
}

}  // namespace

NaiveTwin rala_twin() {
  return {.name = "rala",
          .map = rala_map,
          .cases = {{}},
          .differences = true,
          .knows_order = true,
          .count = count_rala,
          .counted = {{.shape = kWidthOfNine},
                      {.parameters = {{"term", true}}, .shape = kWidthOfNine}}};
}

NaiveTwin mlla_twin() {
  return {.name = "mlla",
          .map = mlla_map,
          .cases = {{}},
          .differences = true,
          .knows_order = true,
          .count = count_mlla,
          .counted = {{.shape = kWidthOfNine},
                      {.parameters = {{"term", true}}, .shape = kWidthOfNine}}};
}

}  // namespace attnscope
