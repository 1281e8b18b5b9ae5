#include "tests/support/naive_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace attnscope {

namespace {

double element(const ConstMatrixMap& all, std::int64_t heads, std::int64_t head, std::int64_t row,
               std::int64_t column) {
  return static_cast<double>(all(row, head * (all.cols() / heads) + column));
}

}  // namespace

double naive_l1_distance(const ConstStridedMatrixMap& a, std::int64_t i,
                         const ConstStridedMatrixMap& b, std::int64_t j) {
  double sum = 0;
  for (std::int64_t c = 0; c < a.cols(); ++c) {
    sum += std::abs(static_cast<double>(a(i, c)) - static_cast<double>(b(j, c)));
  }
  return sum;
}

NaiveMap naive_softmax(NaiveMap scores, bool causal) {
  for (std::size_t i = 0; causal && i < scores.size(); ++i) {
    for (std::size_t j = i + 1; j < scores[i].size(); ++j) {
      scores[i][j] = -std::numeric_limits<double>::infinity();
    }
  }
  for (std::vector<double>& row : scores) {
    const double greatest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value - greatest);
    for (double& value : row) value /= sum;
  }
  return scores;
}

NaiveMap naive_softmax_map(const AttentionInput& input, std::int64_t head) {
  const std::int64_t d = input.queries.cols() / input.heads;
  NaiveMap scores(static_cast<std::size_t>(input.queries.rows()));
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
      double product = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        product += element(input.queries, input.heads, head, i, c) *
                   element(input.keys, input.heads, head, j, c);
      }
      scores[static_cast<std::size_t>(i)].push_back(product / std::sqrt(static_cast<double>(d)));
    }
  }
  return naive_softmax(std::move(scores), input.causal);
}

NaiveMap naive_adder_map(const AttentionInput& input, std::int64_t head, bool identity) {
  const std::int64_t d = input.queries.cols() / input.heads;
  const double variance = 2.0 * static_cast<double>(d) * (1.0 - 2.0 / std::numbers::pi);
  NaiveMap scores(static_cast<std::size_t>(input.queries.rows()));
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
      double distance = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        distance += std::abs(element(input.queries, input.heads, head, i, c) -
                             element(input.keys, input.heads, head, j, c));
      }
      scores[static_cast<std::size_t>(i)].push_back(-distance / std::sqrt(variance));
    }
  }
  NaiveMap map = naive_softmax(std::move(scores), input.causal);
  if (identity) {
    for (std::size_t i = 0; i < map.size(); ++i) map[i][i] += 1;
  }
  return map;
}

NaiveMap naive_linear_map(const AttentionInput& input, std::int64_t head) {
  const std::int64_t d = input.queries.cols() / input.heads;
  const auto feature = [](double x) { return x > 0 ? 1 + x : std::exp(x); };
  NaiveMap map(static_cast<std::size_t>(input.queries.rows()));
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    std::vector<double>& row = map[static_cast<std::size_t>(i)];
    double total = 0;
    for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
      double product = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        product += feature(element(input.queries, input.heads, head, i, c)) *
                   feature(element(input.keys, input.heads, head, j, c));
      }
      row.push_back(input.causal && j > i ? 0 : product);
      total += row.back();
    }
    for (double& weight : row) weight /= total;
  }
  return map;
}

NaiveMap naive_additive_map(const AttentionInput& input, std::int64_t head, bool causal,
                            std::int64_t window) {
  const std::int64_t d = input.keys.cols() / input.heads;
  const Tensor& importance = input.parameters->at("importance");
  const bool of_all = importance.extent(1) != d;  // reads the keys of all heads
  const auto bias = input.parameters->find("importance_bias");
  causal |= input.causal;
  std::vector<double> logits;
  for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
    double product =
        bias == input.parameters->end() ? 0 : static_cast<double>(bias->second.data()[head]);
    for (std::int64_t c = 0; c < importance.extent(1); ++c) {
      product += static_cast<double>(importance.matrix()(head, c)) *
                 (of_all ? static_cast<double>(input.keys(j, c))
                         : element(input.keys, input.heads, head, j, c));
    }
    logits.push_back(product / std::sqrt(static_cast<double>(d)));
  }
  NaiveMap map;
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    std::vector<double> scores = logits;
    for (std::int64_t j = 0; causal && j < input.keys.rows(); ++j) {
      const bool outside = j > i || (window > 0 && j <= i - window);
      if (outside) scores[static_cast<std::size_t>(j)] = -std::numeric_limits<double>::infinity();
    }
    map.push_back(std::move(scores));
  }
  return naive_softmax(std::move(map));
}

namespace {

/// (h_i·h_j + bias) / Σ_j' (h_i·h_j' + bias). Upstream adds the bias only to the token's own
/// weight.
NaiveMap map_of_codes(const NaiveMap& of_queries, const NaiveMap& of_keys, double bias,
                      bool upstream, bool causal) {
  NaiveMap map;
  for (std::size_t i = 0; i < of_queries.size(); ++i) {
    std::vector<double>& row = map.emplace_back();
    double total = 0;
    for (std::size_t j = 0; j < of_keys.size(); ++j) {
      if (causal && j > i) {
        row.push_back(0);
        continue;
      }
      double product = 0;
      for (std::size_t r = 0; r < of_keys[j].size(); ++r) {
        product += of_queries[i][r] * of_keys[j][r];
      }
      total += product + bias;
      row.push_back(product + (!upstream || i == j ? bias : 0));
    }
    for (double& weight : row) weight /= total;
  }
  return map;
}

}  // namespace

NaiveMap naive_hash_map(const AttentionInput& input, std::int64_t head, bool upstream) {
  const Tensor& a = input.parameters->at("ksh.A");
  const Tensor& anchors = input.parameters->at("ksh.anchor");
  const Tensor& means = input.parameters->at("ksh.mvec");
  const std::int64_t bits = a.extent(1), supports = a.extent(2), d = anchors.extent(2);
  const auto squares = [&](const ConstMatrixMap& tokens, std::int64_t i, std::int64_t support) {
    double length = 0, sum = 0;
    for (std::int64_t c = 0; c < d; ++c) {
      length += std::pow(element(tokens, input.heads, head, i, c), 2);
    }
    for (std::int64_t c = 0; c < d; ++c) {
      const double anchor = static_cast<double>(anchors.slice(head)(support, c));
      sum += std::pow(element(tokens, input.heads, head, i, c) / std::sqrt(length) - anchor, 2);
    }
    return sum;
  };
  double sigma = 0;
  for (std::int64_t j = 0; j < input.keys.rows() && !input.causal; ++j) {
    for (std::int64_t s = 0; s < supports; ++s) sigma += squares(input.keys, j, s);
  }
  sigma /= static_cast<double>(input.keys.rows() * supports);
  for (std::int64_t r = 0; r < supports && input.causal; ++r) {
    for (std::int64_t s = 0; s < supports; ++s) {
      for (std::int64_t c = 0; c < d; ++c) {
        sigma += std::pow(static_cast<double>(anchors.slice(head)(r, c)) -
                              static_cast<double>(anchors.slice(head)(s, c)),
                          2) /
                 static_cast<double>(supports * supports);
      }
    }
  }
  if (!(sigma > 0)) sigma = 1;
  const auto codes = [&](const ConstMatrixMap& tokens) {
    NaiveMap all;
    for (std::int64_t i = 0; i < tokens.rows(); ++i) {
      std::vector<double>& code = all.emplace_back();
      for (std::int64_t r = 0; r < bits; ++r) {
        double sum = 0;
        for (std::int64_t s = 0; s < supports; ++s) {
          const double kernel = std::exp(-squares(tokens, i, s) / (2 * sigma));
          sum += static_cast<double>(a.slice(head)(r, s)) *
                 (kernel - static_cast<double>(means.matrix()(head, s)));
        }
        code.push_back(sum > 0 ? 1 : -1);
      }
    }
    return all;
  };
  double bias = static_cast<double>(bits + 1);
  if (!upstream) bias = std::exp2(std::ceil(std::log2(bias)));
  return map_of_codes(codes(input.queries), codes(input.keys), bias, upstream, input.causal);
}

NaiveMap naive_sign_map(const AttentionInput& input, std::int64_t head, bool upstream) {
  const std::int64_t d = input.keys.cols() / input.heads;
  const auto codes = [&](const ConstMatrixMap& tokens) {
    NaiveMap all;
    for (std::int64_t i = 0; i < tokens.rows(); ++i) {
      double squares = 0, sum = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        const double x = element(tokens, input.heads, head, i, c);
        squares += x * x;
        sum += std::abs(x);
      }
      const double scale = sum / std::sqrt(squares) / static_cast<double>(d);
      std::vector<double>& code = all.emplace_back();
      for (std::int64_t c = 0; c < d; ++c) {
        code.push_back(element(tokens, input.heads, head, i, c) > 0 ? scale : -scale);
      }
    }
    return all;
  };
  return map_of_codes(codes(input.queries), codes(input.keys), 2, upstream, input.causal);
}

void add_hash_buffers(NamedTensors& parameters, std::int64_t heads, std::int64_t bits,
                      std::int64_t supports, std::int64_t d, unsigned seed) {
  parameters.insert_or_assign("ksh.A", random_normal({heads, bits, supports}, seed));
  Tensor anchors = random_normal({heads, supports, d}, seed + 1);
  for (Eigen::Index row = 0; row < anchors.matrix().rows(); ++row) {
    anchors.matrix().row(row).normalize();
  }
  parameters.insert_or_assign("ksh.anchor", std::move(anchors));
  Tensor means({heads, supports});
  for (float& mean : means.values()) mean = 0.6F;  // exp(−½) of the mean distance
  parameters.insert_or_assign("ksh.mvec", std::move(means));
}

Tensor random_normal(Shape shape, unsigned seed) {
  // The Box–Muller transform of mt19937 is used because std::normal_distribution differs between
  // libraries.
  std::mt19937 generator(seed);
  const auto uniform = [&generator] {
    return (static_cast<double>(generator()) + 0.5) / 4294967296.0;
  };
  Tensor tensor(std::move(shape));
  for (float& value : tensor.values()) {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    value = static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * uniform()));
  }
  return tensor;
}

RandomAttention::RandomAttention(std::int64_t n, std::int64_t m, std::int64_t head_count,
                                 std::int64_t d, std::int64_t dv, unsigned seed)
    : queries(random_normal({n, head_count * d}, seed)),
      keys(random_normal({m, head_count * d}, seed + 1)),
      values(random_normal({m, head_count * dv}, seed + 2)),
      heads(head_count) {}

AttentionInput RandomAttention::input() const {
  return {.queries = queries.matrix(),
          .keys = keys.matrix(),
          .values = values.matrix(),
          .heads = heads,
          .parameters = parameters.empty() ? nullptr : &parameters};
}

}  // namespace attnscope
