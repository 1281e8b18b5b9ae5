#include "tests/support/naive_daft.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::int64_t whole(const MechanismChoice& choice, const char* name) {
  return std::get<std::int64_t>(choice.parameters.at(name));
}

/// A flag of the mechanism, true if the choice lacks it.
bool flag(const MechanismChoice& choice, const char* name) {
  const auto found = choice.parameters.find(name);
  return found == choice.parameters.end() || std::get<bool>(found->second);
}

const Tensor* find(const AttentionInput& input, const char* name) {
  if (!input.parameters || !input.parameters->contains(name)) return nullptr;
  return &input.parameters->find(name)->second;
}

double full_bias(const AttentionInput& input, std::int64_t i, std::int64_t j) {
  if (const Tensor* const w = find(input, "w")) {
    const double value = static_cast<double>(w->matrix()(i, j));
    const Tensor* const mask = find(input, "local_mask");
    return mask ? value * static_cast<double>(mask->matrix()(i, j)) : value;
  }
  const Tensor* const left = find(input, "pe0");
  const Tensor* const right = find(input, "pe1");
  double sum = 0;
  for (std::int64_t c = 0; left && c < left->extent(1); ++c) {
    sum += static_cast<double>(left->matrix()(i, c)) * static_cast<double>(right->matrix()(j, c));
  }
  return sum;
}

/// r of one head, after Eq. 9 unless reparameterised=false, row-major over the window.
std::vector<double> window_of(const MechanismChoice& choice, const AttentionInput& input,
                              std::int64_t head) {
  const std::int64_t kernel = whole(choice, "kernel");
  const std::int64_t count = whole(choice, "dimensions") == 2 ? kernel * kernel : kernel;
  std::vector<double> r(static_cast<std::size_t>(count), 0.0);
  const Tensor* const stored = find(input, "r");
  if (!stored) return r;
  double mean = 0, variance = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    r[static_cast<std::size_t>(t)] = static_cast<double>(stored->data()[head * count + t]);
    mean += r[static_cast<std::size_t>(t)] / static_cast<double>(count);
  }
  for (const double value : r) variance += std::pow(value - mean, 2) / static_cast<double>(count);
  const Tensor* const gamma = find(input, "gamma");
  if (gamma && flag(choice, "reparameterised")) {
    for (double& value : r) {
      const double scaled = variance > 0 ? (value - mean) / std::sqrt(variance) : 0;
      value = static_cast<double>(gamma->data()[head]) * scaled +
              static_cast<double>(find(input, "beta")->data()[head]);
    }
  }
  if (choice.name == "daft-one-hot") {
    const auto largest = std::max_element(r.begin(), r.end());
    for (auto value = r.begin(); value != r.end(); ++value) {
      if (value != largest) *value = 0;
    }
  }
  return r;
}

}  // namespace

NaiveMap naive_daft_bias(const MechanismChoice& choice, const AttentionInput& input,
                         std::int64_t channel) {
  NaiveMap w(static_cast<std::size_t>(input.queries.rows()),
             std::vector<double>(static_cast<std::size_t>(input.keys.rows()), 0.0));
  const bool windowed = choice.name != "daft-full";
  const TokenLayout nowhere;
  const TokenLayout& layout = input.layout ? *input.layout : nowhere;
  std::vector<double> r;
  std::int64_t kernel = 1, line = 0;
  if (windowed) {
    r = window_of(choice, input, channel * whole(choice, "conv_heads") / input.values.cols());
    kernel = whole(choice, "kernel");
    line = whole(choice, "dimensions") == 2 ? layout.columns : input.keys.rows() - layout.prefix;
  }
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
      double& value = w[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (!windowed) {
        value = full_bias(input, i, j);
      } else if (i >= layout.prefix && j >= layout.prefix) {
        const std::int64_t from = i - layout.prefix, to = j - layout.prefix;
        const std::int64_t down = to / line - from / line, right = to % line - from % line;
        const std::int64_t half_rows = whole(choice, "dimensions") == 2 ? kernel / 2 : 0;
        if (std::abs(down) <= half_rows && std::abs(right) <= kernel / 2) {
          value = r[static_cast<std::size_t>((down + half_rows) * kernel + right + kernel / 2)];
        } else if (choice.name == "daft-local") {
          value = kNever;
        }
      }
      if (input.causal && j > i) value = kNever;
    }
  }
  return w;
}

NaiveMap naive_daft_channel_map(const MechanismChoice& choice, const AttentionInput& input,
                                std::int64_t channel) {
  NaiveMap map = naive_daft_bias(choice, input, channel);
  const std::int64_t key = channel * input.keys.cols() / input.values.cols();
  for (std::vector<double>& row : map) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] += static_cast<double>(input.keys(static_cast<Eigen::Index>(j), key));
    }
  }
  map = naive_softmax(std::move(map));
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto q = static_cast<double>(input.queries(static_cast<Eigen::Index>(i), channel));
    if (!flag(choice, "gate")) continue;
    for (double& weight : map[i]) weight /= 1 + std::exp(-q);
  }
  return map;
}

NaiveMap naive_daft_map(const MechanismChoice& choice, const AttentionInput& input,
                        std::int64_t head) {
  const std::int64_t each = input.values.cols() / input.heads;
  if (input.channel) return naive_daft_channel_map(choice, input, head * each + *input.channel);
  NaiveMap mean;
  for (std::int64_t c = 0; c < each; ++c) {
    const NaiveMap map = naive_daft_channel_map(choice, input, head * each + c);
    if (mean.empty()) mean = NaiveMap(map.size(), std::vector<double>(map.front().size(), 0.0));
    for (std::size_t i = 0; i < map.size(); ++i) {
      for (std::size_t j = 0; j < map[i].size(); ++j) {
        mean[i][j] += map[i][j] / static_cast<double>(each);
      }
    }
  }
  return mean;
}

}  // namespace attnscope
