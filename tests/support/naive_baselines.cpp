#include "tests/support/naive_baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

namespace {

using Vectors = std::vector<std::vector<double>>;

/// The columns of one head in [rows, H · width].
Vectors rows_of(const ConstMatrixMap& all, const AttentionInput& input, std::int64_t head) {
  const std::int64_t width = all.cols() / input.heads;
  Vectors rows;
  for (std::int64_t i = 0; i < all.rows(); ++i) {
    std::vector<double>& row = rows.emplace_back();
    for (std::int64_t c = 0; c < width; ++c) {
      row.push_back(static_cast<double>(all(i, head * width + c)));
    }
  }
  return rows;
}

/// The matrix of one head in a tensor [H, rows, columns], or [rows, columns] for all heads.
Vectors parameter(const AttentionInput& input, const char* name, std::int64_t head) {
  const Tensor& tensor = input.parameters->at(name);
  const bool shared = tensor.rank() == 2;
  const std::int64_t rows = tensor.extent(shared ? 0 : 1), columns = tensor.shape().back();
  Vectors matrix;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double>& row = matrix.emplace_back();
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t at = (shared ? i : head * rows + i) * columns + c;
      row.push_back(static_cast<double>(tensor.data()[at]));
    }
  }
  return matrix;
}

/// The vector of one head in a tensor [H, length].
std::vector<double> vector_parameter(const AttentionInput& input, const char* name,
                                     std::int64_t head) {
  const Tensor& tensor = input.parameters->at(name);
  std::vector<double> vector;
  for (std::int64_t i = 0; i < tensor.extent(1); ++i) {
    vector.push_back(static_cast<double>(tensor.matrix()(head, i)));
  }
  return vector;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

}  // namespace

NaiveMap naive_performer_map(const AttentionInput& input, std::int64_t head, bool relu) {
  const Vectors omega = parameter(input, "features", head);
  const auto features = [&](const ConstMatrixMap& all) {
    Vectors list;
    for (std::vector<double>& x : rows_of(all, input, head)) {
      for (double& value : x) value /= std::pow(static_cast<double>(x.size()), 0.25);
      std::vector<double>& phi = list.emplace_back();
      for (const std::vector<double>& direction : omega) {
        const double product = dot(direction, x);
        phi.push_back(relu ? std::max(product, 0.0) + 0.001 : std::exp(product - dot(x, x) / 2));
      }
    }
    return list;
  };
  const Vectors queries = features(input.queries), keys = features(input.keys);
  NaiveMap map;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::vector<double>& row = map.emplace_back();
    double total = 0;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      row.push_back(input.causal && j > i ? 0 : dot(queries[i], keys[j]));
      total += row.back();
    }
    for (double& weight : row) weight /= total;
  }
  return map;
}

NaiveMap naive_linformer_map(const AttentionInput& input, std::int64_t head) {
  const Vectors e = parameter(input, "E", head), f = parameter(input, "F", head);
  const Vectors queries = rows_of(input.queries, input, head),
                keys = rows_of(input.keys, input, head);
  const std::size_t d = keys.front().size();
  NaiveMap scores;
  for (const std::vector<double>& query : queries) {
    std::vector<double>& row = scores.emplace_back();
    for (const std::vector<double>& weights : e) {
      double score = 0;
      for (std::size_t c = 0; c < d; ++c) {
        double landmark = 0;
        for (std::size_t j = 0; j < keys.size(); ++j) landmark += weights[j] * keys[j][c];
        score += query[c] * landmark;
      }
      row.push_back(score / std::sqrt(static_cast<double>(d)));
    }
  }
  NaiveMap map;
  for (const std::vector<double>& weights : naive_softmax(std::move(scores))) {
    std::vector<double>& row = map.emplace_back(keys.size());
    for (std::size_t l = 0; l < weights.size(); ++l) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += weights[l] * f[l][j];
    }
  }
  return map;
}

NaiveMap naive_reformer_map(const AttentionInput& input, std::int64_t head, std::int64_t chunk) {
  const Vectors queries = rows_of(input.queries, input, head);
  const Tensor& rotations = input.parameters->at("rotations");
  const std::size_t n = queries.size(), d = queries.front().size();
  const auto half = static_cast<std::size_t>(rotations.extent(2));
  std::vector<std::vector<bool>> meets(n, std::vector<bool>(n));
  for (std::int64_t round = 0; round < rotations.extent(0); ++round) {
    std::vector<std::size_t> bucket(n);
    for (std::size_t i = 0; i < n; ++i) {
      double best = -std::numeric_limits<double>::infinity();
      for (std::size_t b = 0; b < 2 * half; ++b) {
        double rotated = 0;
        for (std::size_t c = 0; c < d; ++c) {
          rotated += queries[i][c] *
                     static_cast<double>(rotations.slice(round)(
                         static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(b % half)));
        }
        if (b >= half) rotated = -rotated;
        if (rotated > best) {
          best = rotated;
          bucket[i] = b;
        }
      }
    }
    // The chunk follows from the number of tokens sorted before i: in all buckets, or in its own
    // bucket if causal.
    std::vector<std::int64_t> index(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::int64_t before = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const bool same = bucket[j] == bucket[i];
        if ((same && j < i) || (!input.causal && bucket[j] < bucket[i])) ++before;
      }
      index[i] = before / chunk;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j || (input.causal && j > i) || bucket[i] != bucket[j]) continue;
        if (index[j] == index[i] || index[j] == index[i] - 1) meets[i][j] = true;
      }
    }
  }
  NaiveMap scores;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double>& row = scores.emplace_back(n, -std::numeric_limits<double>::infinity());
    bool alone = true;
    for (std::size_t j = 0; j < n; ++j) {
      if (!meets[i][j]) continue;
      alone = false;
      const double length = std::sqrt(dot(queries[j], queries[j]));
      row[j] = dot(queries[i], queries[j]) / length / std::sqrt(static_cast<double>(d));
    }
    if (alone) row[i] = 0;
  }
  return naive_softmax(std::move(scores));
}

NaiveMap naive_synthesizer_map(const AttentionInput& input, std::int64_t head,
                               const std::string& scores) {
  // Tensors learned for longer texts are cut to the first tokens.
  const auto n = static_cast<std::size_t>(input.queries.rows());
  const auto m = static_cast<std::size_t>(input.keys.rows());
  const auto first = [](Vectors rows, std::size_t count) {
    rows.resize(count);
    return rows;
  };
  if (scores == "random") {
    NaiveMap map = first(parameter(input, "R", head), n);
    for (std::vector<double>& row : map) row.resize(m);
    return naive_softmax(std::move(map), input.causal);
  }
  NaiveMap map;
  if (scores == "factorised") {
    for (const std::vector<double>& left : first(parameter(input, "R1", head), n)) {
      std::vector<double>& row = map.emplace_back();
      for (const std::vector<double>& right : first(parameter(input, "R2", head), m)) {
        row.push_back(dot(left, right));
      }
    }
    return naive_softmax(std::move(map), input.causal);
  }
  const Vectors w1 = parameter(input, "W1", head), w2 = parameter(input, "W2", head);
  const std::vector<double> b1 = vector_parameter(input, "b1", head),
                            b2 = vector_parameter(input, "b2", head);
  for (const std::vector<double>& x : rows_of(input.queries, input, head)) {
    std::vector<double> hidden;
    for (std::size_t c = 0; c < x.size(); ++c) {
      hidden.push_back(std::max(dot(w1[c], x) + b1[c], 0.0));
    }
    std::vector<double>& row = map.emplace_back();
    for (std::size_t j = 0; j < m; ++j) row.push_back(dot(w2[j], hidden) + b2[j]);
  }
  return naive_softmax(std::move(map), input.causal);
}

}  // namespace attnscope
