#include "tests/support/naive_baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

namespace {

using Vectors = std::vector<std::vector<double>>;

/// One head's share of [rows, H · width].
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

/// One head's matrix of a tensor [H, rows, columns], or vector of [H, rows] as [rows][1].
Vectors parameter(const AttentionInput& input, const char* name, std::int64_t head) {
  const Tensor& tensor = input.parameters->at(name);
  const std::int64_t rows = tensor.extent(1), columns = tensor.rank() > 2 ? tensor.extent(2) : 1;
  Vectors matrix;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double>& row = matrix.emplace_back();
    for (std::int64_t c = 0; c < columns; ++c) {
      row.push_back(static_cast<double>(tensor.data()[(head * rows + i) * columns + c]));
    }
  }
  return matrix;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

NaiveMap masked(NaiveMap scores, bool causal) {
  for (std::size_t i = 0; causal && i < scores.size(); ++i) {
    for (std::size_t j = i + 1; j < scores[i].size(); ++j) {
      scores[i][j] = -std::numeric_limits<double>::infinity();
    }
  }
  return scores;
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
    // How many tokens are sorted before i: all buckets', or its own bucket's.
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
  if (scores == "random") return naive_softmax(masked(parameter(input, "R", head), input.causal));
  NaiveMap map;
  if (scores == "factorised") {
    for (const std::vector<double>& left : parameter(input, "R1", head)) {
      std::vector<double>& row = map.emplace_back();
      for (const std::vector<double>& right : parameter(input, "R2", head)) {
        row.push_back(dot(left, right));
      }
    }
    return naive_softmax(masked(std::move(map), input.causal));
  }
  const Vectors w1 = parameter(input, "W1", head), b1 = parameter(input, "b1", head);
  const Vectors w2 = parameter(input, "W2", head), b2 = parameter(input, "b2", head);
  for (const std::vector<double>& x : rows_of(input.queries, input, head)) {
    std::vector<double> hidden;
    for (std::size_t c = 0; c < x.size(); ++c) {
      hidden.push_back(std::max(dot(w1[c], x) + b1[c][0], 0.0));
    }
    std::vector<double>& row = map.emplace_back();
    for (std::size_t j = 0; j < w2.size(); ++j) row.push_back(dot(w2[j], hidden) + b2[j][0]);
  }
  return naive_softmax(masked(std::move(map), input.causal));
}

void add_baseline_parameters(NamedTensors& parameters, const MechanismChoice& choice,
                             const AttentionShape& shape, unsigned seed) {
  const std::int64_t h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width;
  const auto add = [&](const char* name, const Shape& extents, double scale) {
    Tensor tensor = random_normal(extents, seed++);
    for (float& value : tensor.values()) value *= static_cast<float>(scale);
    parameters.insert_or_assign(name, std::move(tensor));
  };
  const auto whole = [&](const char* name) {
    return std::get<std::int64_t>(choice.parameters.at(name));
  };
  if (choice.name == "performer") add("features", {h, whole("features"), d}, 1);
  if (choice.name == "linformer") {
    const std::int64_t k = whole("landmarks");
    add("E", {h, k, m}, 1 / std::sqrt(static_cast<double>(m)));
    add("F", {h, k, m}, 1);
    // No sums that cancel: weights can be compared relative to themselves.
    for (float& value : parameters.at("F").values()) value = std::abs(value);
  }
  if (choice.name == "reformer") {
    const std::int64_t chunks = (n + whole("chunk") - 1) / whole("chunk");
    add("rotations", {whole("hashes"), d, std::max<std::int64_t>(2, chunks + chunks % 2) / 2}, 1);
  }
  if (choice.name == "synthesizer") {
    const std::int64_t k = whole("factors");
    add("R", {h, n, m}, 1);
    add("R1", {h, n, k}, 0.7);
    add("R2", {h, m, k}, 0.7);
    add("W1", {h, d, d}, 1 / std::sqrt(static_cast<double>(d)));
    add("b1", {h, d}, 0.3);
    add("W2", {h, m, d}, 1 / std::sqrt(static_cast<double>(d)));
    add("b2", {h, m}, 0.3);
  }
}

}  // namespace attnscope
