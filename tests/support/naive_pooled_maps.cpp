// The mechanisms of core/attention/pooled_maps.cpp transcribed from the equations and their
// authors' code, with loops in double.
#include <algorithm>
#include <cmath>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_convolution.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

using Rows = std::vector<std::vector<double>>;
constexpr AttentionShape kFiveOfSeven{
    .queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4};

Rows rows_of_head(const ConstMatrixMap& all, std::int64_t heads, std::int64_t head) {
  const std::int64_t d = all.cols() / heads;
  Rows rows;
  for (std::int64_t i = 0; i < all.rows(); ++i) {
    rows.emplace_back();
    for (std::int64_t c = head * d; c < (head + 1) * d; ++c) {
      rows.back().push_back(static_cast<double>(all(i, c)));
    }
  }
  return rows;
}

Rows times(const Rows& a, const Rows& b) {
  Rows product(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

Rows transpose(const Rows& a) {
  Rows result(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[0].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}

/// softmax(a bᵀ/√d + biases [H, rows of a, rows of b] of the head, if there are any).
Rows softmax_of(const Rows& a, const Rows& b, const Tensor* biases = nullptr,
                std::int64_t head = 0) {
  Rows scores = times(a, transpose(b));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores[i].size(); ++j) {
      scores[i][j] /= std::sqrt(static_cast<double>(a[0].size()));
      if (!biases) continue;
      scores[i][j] += static_cast<double>(
          biases->slice(head)(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
  }
  return naive_softmax(std::move(scores));
}

const Tensor* biases_of(const AttentionInput& input, const char* name) {
  if (!input.parameters || !input.parameters->contains(name)) return nullptr;
  return &input.parameters->find(name)->second;
}

/// The mean of the rows whose indices are `chosen`.
std::vector<double> mean_of_rows(const Rows& rows, const std::vector<std::int64_t>& chosen) {
  std::vector<double> mean(rows[0].size(), 0.0);
  for (const std::int64_t row : chosen) {
    for (std::size_t c = 0; c < mean.size(); ++c) {
      mean[c] += rows[static_cast<std::size_t>(row)][c] / static_cast<double>(chosen.size());
    }
  }
  return mean;
}

/// Indices of part `part` of `parts` by PyTorch's rule: from ⌊part·size/parts⌋ to
/// ⌈(part + 1)·size/parts⌉.
std::vector<std::int64_t> adaptive_part(std::int64_t part, std::int64_t parts, std::int64_t size) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < size; ++i) {
    if ((i + 1) * parts > part * size && i * parts < (part + 1) * size) indices.push_back(i);
  }
  return indices;
}

/// Means of the queries in `count` areas of the grid, or of a sequence.
Rows means_of_areas(const AttentionInput& input, const Rows& queries, std::int64_t count) {
  Rows agents;
  if (input.layout && input.layout->has_grid()) {
    const TokenLayout& grid = *input.layout;
    const std::int64_t side = std::llround(std::sqrt(static_cast<double>(count)));
    for (std::int64_t a = 0; a < count; ++a) {
      std::vector<std::int64_t> chosen;
      for (const std::int64_t y : adaptive_part(a / side, side, grid.rows)) {
        for (const std::int64_t x : adaptive_part(a % side, side, grid.columns)) {
          chosen.push_back(grid.prefix + y * grid.columns + x);
        }
      }
      agents.push_back(mean_of_rows(queries, chosen));
    }
  } else {
    for (std::int64_t a = 0; a < count; ++a) {
      agents.push_back(mean_of_rows(queries, adaptive_part(a, count, input.queries.rows())));
    }
  }
  return agents;
}

NaiveMap agent_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const Rows queries = rows_of_head(input.queries, input.heads, head);
  const Rows keys = rows_of_head(input.keys, input.heads, head);
  const Rows agents =
      means_of_areas(input, queries, TypedValues(choice.parameters).whole("agents"));
  NaiveMap map = times(softmax_of(queries, agents, biases_of(input, "na"), head),
                       softmax_of(agents, keys, biases_of(input, "an"), head));
  add_naive_convolution(choice, input, head, map);
  return map;
}

/// Landmarks: all segments have ⌊N/m⌋ rows but the last N mod m, which have one more.
Rows landmarks_of(const Rows& rows, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(rows.size());
  Rows landmarks;
  std::int64_t next = 0;
  for (std::int64_t l = 0; l < count; ++l) {
    const std::int64_t length = size / count + (count - l <= size % count ? 1 : 0);
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < length; ++i) chosen.push_back(next++);
    landmarks.push_back(mean_of_rows(rows, chosen));
  }
  return landmarks;
}

Rows of_landmarks(const AttentionInput& input, std::int64_t head, std::int64_t count) {
  return softmax_of(landmarks_of(rows_of_head(input.queries, input.heads, head), count),
                    landmarks_of(rows_of_head(input.keys, input.heads, head), count));
}

double largest_sum_of_a_column(const Rows& rows) {
  double largest = 0;
  for (const auto& column : transpose(rows)) {
    double sum = 0;
    for (const double value : column) sum += value;
    largest = std::max(largest, sum);
  }
  return largest;
}

/// factor · 1 − rows.
Rows subtracted(double factor, Rows rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) rows[i][j] = (i == j ? factor : 0) - rows[i][j];
  }
  return rows;
}

NaiveMap nystrom_map(const MechanismChoice& choice, const AttentionInput& input,
                     std::int64_t head) {
  const TypedValues values(choice.parameters);
  const std::int64_t count = values.whole("landmarks");
  if (count >= std::min(input.queries.rows(), input.keys.rows())) {
    return naive_softmax_map(input, head);
  }
  const Rows queries = rows_of_head(input.queries, input.heads, head);
  const Rows keys = rows_of_head(input.keys, input.heads, head);
  const Rows p = of_landmarks(input, head, count);
  double divisor = largest_sum_of_a_column(p);
  for (std::int64_t other = 0; other < input.heads && values.is("divisor", "layer"); ++other) {
    divisor = std::max(divisor, largest_sum_of_a_column(of_landmarks(input, other, count)));
  }
  Rows z = transpose(p);
  for (auto& row : z) {
    for (double& value : row) value /= divisor;
  }
  for (std::int64_t i = 0; i < values.whole("iterations"); ++i) {
    const Rows pz = times(p, z);
    z = times(z, subtracted(13, times(pz, subtracted(15, times(pz, subtracted(7, pz))))));
    for (auto& row : z) {
      for (double& value : row) value *= 0.25;
    }
  }
  return times(times(softmax_of(queries, landmarks_of(keys, count)), z),
               softmax_of(landmarks_of(queries, count), keys));
}

/// exp(−‖a − b‖²/2√d) of every pair of rows.
Rows gaussians(const Rows& a, const Rows& b) {
  Rows weights;
  for (const auto& row : a) {
    weights.emplace_back();
    for (const auto& other : b) {
      double distance = 0;
      for (std::size_t c = 0; c < row.size(); ++c) {
        distance += (row[c] - other[c]) * (row[c] - other[c]);
      }
      weights.back().push_back(
          std::exp(-distance / 2 / std::sqrt(static_cast<double>(row.size()))));
    }
  }
  return weights;
}

NaiveMap soft_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const TypedValues values(choice.parameters);
  const Rows queries = rows_of_head(input.queries, input.heads, head);
  const Rows landmarks = means_of_areas(input, queries, values.whole("landmarks"));
  Rows p = gaussians(landmarks, landmarks), z = p;
  double largest = 0;
  for (const auto& row : p) {
    double sum = 0;
    for (const double value : row) sum += value;
    largest = std::max(largest, sum);
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i][i] += 0.01;
    for (std::size_t j = 0; j < p.size(); ++j) z[i][j] = 2 * 0.9 / largest / largest * p[i][j];
  }
  for (std::int64_t step = 0; step < values.whole("iterations"); ++step) {
    const Rows change = times(times(z, p), z);
    for (std::size_t i = 0; i < z.size(); ++i) {
      for (std::size_t j = 0; j < z.size(); ++j) z[i][j] = 2 * z[i][j] - change[i][j];
    }
  }
  NaiveMap map = times(times(gaussians(queries, landmarks), z),
                       gaussians(landmarks, rows_of_head(input.keys, input.heads, head)));
  add_naive_convolution(choice, input, head, map);
  return map;
}

/// Means of `parts` parts of `tokens` tokens of every head, each token in one of them.
void count_means(const char* component, const AttentionShape& s, std::int64_t tokens,
                 std::int64_t parts) {
  using test::Counted;
  Counted::enter(component);
  for (std::int64_t channel = 0; channel < s.heads * s.head_width; ++channel) {
    Counted sum = 0;
    for (std::int64_t token = 0; token < tokens; ++token) sum += Counted(0.1);
    for (std::int64_t part = 0; part < parts; ++part) static_cast<void>(sum / 2);
  }
}

test::Rows count_weights(std::int64_t queries, std::int64_t keys, std::int64_t d) {
  test::Counted::enter("scores");
  test::Rows rows = test::products(test::random_rows(queries, d), test::random_rows(keys, d));
  test::softmax_in_place(rows);
  return rows;
}

void count_agent(const AttentionShape& s, const TypedValues& values) {
  const std::int64_t agents = values.whole("agents");
  count_means("agents", s, s.queries, agents);
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const test::Rows of_keys = count_weights(agents, s.keys, s.head_width);
    const test::Rows of_agents = count_weights(s.queries, agents, s.head_width);
    test::Counted::enter("values");
    // Both are products with rows of a transpose.
    static_cast<void>(test::products(of_keys, test::random_rows(s.value_width, s.keys)));
    static_cast<void>(test::products(of_agents, test::random_rows(s.value_width, agents)));
  }
  count_convolution(s, values);
}

void count_nystrom(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  const std::int64_t m = values.whole("landmarks");
  if (m >= std::min(s.queries, s.keys)) return test::count_softmax(s);
  count_means("landmarks", s, s.queries, m);
  count_means("landmarks", s, s.keys, m);
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const test::Rows left = count_weights(s.queries, m, s.head_width);
    const test::Rows right = count_weights(m, s.keys, s.head_width);
    test::Rows p = count_weights(m, m, s.head_width), z = p;
    Counted::enter("inverse");
    Counted largest = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      Counted sum = 0;
      for (const test::Row& row : p) sum += row[j];
      largest = largest < sum ? sum : largest;
    }
    for (test::Row& row : z) {
      for (Counted& value : row) value = value / largest;
    }
    const auto subtract = [](double factor, test::Rows rows) {
      for (test::Row& row : rows) {
        for (Counted& value : row) value = Counted(factor) - value;
      }
      return rows;
    };
    for (std::int64_t i = 0; i < values.whole("iterations"); ++i) {
      const test::Rows pz = test::products(p, z);
      const test::Rows outer =
          subtract(13, test::products(pz, subtract(15, test::products(pz, subtract(7, pz)))));
      for (test::Row& row : z) {
        for (Counted& value : row) value = value * 0.25;
      }
      z = test::products(z, outer);
      for (test::Row& row : z) row.assign(row.size(), 0.01);
    }
    Counted::enter("values");
    static_cast<void>(test::products(right, test::random_rows(s.value_width, s.keys)));
    static_cast<void>(test::products(test::products(left, z), test::random_rows(s.value_width, m)));
  }
}

void count_gaussians(std::int64_t rows, std::int64_t columns, std::int64_t d) {
  using test::Counted;
  Counted::enter("kernel");
  for (const test::Row& a : test::random_rows(rows, d)) {
    for (const test::Row& b : test::random_rows(columns, d)) {
      Counted sum = 0;
      for (std::size_t c = 0; c < a.size(); ++c) {
        const Counted difference = a[c] - b[c];
        sum += difference * difference;
      }
      static_cast<void>(exp(sum * Counted(-0.1)));
    }
  }
}

void count_soft(const AttentionShape& s, const TypedValues& values) {
  using test::Counted;
  const std::int64_t k = values.whole("landmarks");
  count_means("landmarks", s, s.queries, k);
  for (std::int64_t head = 0; head < s.heads; ++head) {
    count_gaussians(s.queries, k, s.head_width);
    count_gaussians(k, s.keys, s.head_width);
    count_gaussians(k, k, s.head_width);
    Counted::enter("inverse");
    test::Rows p = test::random_rows(k, k), z = p;
    Counted largest = 0;
    for (const test::Row& row : p) {
      Counted sum = 0;
      for (const Counted& value : row) sum += value;
      largest = largest < sum ? sum : largest;
    }
    const Counted factor = Counted(1.8) / (largest * largest);
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (Counted& value : z[i]) value = factor * value;
      p[i][i] += Counted(0.01);
    }
    for (std::int64_t step = 0; step < values.whole("iterations"); ++step) {
      const test::Rows change = test::products(test::products(z, p), z);
      for (std::size_t i = 0; i < z.size(); ++i) {
        for (std::size_t j = 0; j < z.size(); ++j) z[i][j] = Counted(2) * z[i][j] - change[i][j];
      }
      for (test::Row& row : z) row.assign(row.size(), 0.01);
    }
    Counted::enter("values");
    static_cast<void>(
        test::products(test::random_rows(k, s.keys), test::random_rows(s.value_width, s.keys)));
    static_cast<void>(test::products(test::products(test::random_rows(s.queries, k), z),
                                     test::random_rows(s.value_width, k)));
  }
  count_convolution(s, values);
}

}  // namespace

NaiveTwin soft_twin() {
  const auto landmarks = [](std::int64_t count) { return ParameterValues{{"landmarks", count}}; };
  return {.name = "soft",
          .map = soft_map,
          .cases = {{landmarks(1)},
                    {landmarks(4)},
                    {{{"landmarks", std::int64_t{9}}, {"iterations", std::int64_t{3}}}},
                    {}},
          .differences = true,
          .knows_order = true,
          .count = count_soft,
          .counted = {{.parameters = landmarks(4), .shape = kFiveOfSeven},
                      {.parameters = {{"landmarks", std::int64_t{2}}, {"term", true}},
                       .shape = kFiveOfSeven}}};
}

NaiveTwin agent_twin() {
  const auto agents = [](std::int64_t count) { return ParameterValues{{"agents", count}}; };
  return {.name = "agent",
          .map = agent_map,
          .cases = {{agents(1)}, {agents(4)}, {agents(49)}},
          .knows_order = true,
          .count = count_agent,
          .counted = {{.parameters = agents(4), .shape = kFiveOfSeven},
                      {.parameters = {{"agents", std::int64_t{2}}, {"term", true}},
                       .shape = kFiveOfSeven}}};
}

NaiveTwin nystrom_twin() {
  const auto landmarks = [](std::int64_t count) { return ParameterValues{{"landmarks", count}}; };
  return {
      .name = "nystrom",
      .map = nystrom_map,
      .cases = {{landmarks(1)},
                {landmarks(4)},
                {{{"landmarks", std::int64_t{4}}, {"divisor", std::string("head")}}},
                {}},
      .differences = true,
      .knows_order = true,
      .count = count_nystrom,
      .counted = {{.parameters = landmarks(3), .shape = kFiveOfSeven}, {.shape = kFiveOfSeven}}};
}

}  // namespace attnscope
