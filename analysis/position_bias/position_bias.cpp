#include "analysis/position_bias/position_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tbb/parallel_for.h>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kNeverSeen = -std::numeric_limits<double>::infinity();

const Tensor* recorded(const LayerTrace& layer, const char* name) {
  const auto found = layer.quantities.find(name);
  const bool there = found != layer.quantities.end() && found->second.rank() == 3;
  return there ? &found->second : nullptr;
}

MatrixD slice_of(const Tensor& tensor, std::int64_t head) {
  return tensor.slice(head).cast<double>();
}

/// Distance of two tokens on the grid, or |a − b| without a grid.
double distance(const TokenLayout& layout, std::int64_t a, std::int64_t b) {
  const std::int64_t line = layout.has_grid() ? layout.columns : 0;
  if (line == 0) return static_cast<double>(std::abs(a - b));
  const std::int64_t rows = a / line - b / line, columns = a % line - b % line;
  return std::hypot(static_cast<double>(rows), static_cast<double>(columns));
}

struct Distances {
  double mean = 0, even = 0;
};

/// Mean distances of one query to the keys that are not prefix tokens.
Distances distances_of(const PositionBias& bias, std::int64_t query) {
  const std::vector<double> w = query_bias(bias, query);
  const auto prefix = static_cast<std::size_t>(bias.layout.prefix);
  const double largest = *std::max_element(w.begin() + bias.layout.prefix, w.end());
  Distances sums;
  double total = 0, count = 0;
  for (std::size_t key = prefix; key < w.size(); ++key) {
    const auto j = static_cast<std::int64_t>(key);
    if (bias.causal && j > query) break;
    const double away = distance(bias.layout, query - bias.layout.prefix, j - bias.layout.prefix);
    const double weight = std::exp(w[key] - largest);
    sums.mean += weight * away;
    total += weight;
    sums.even += away;
    ++count;
  }
  return {sums.mean / total, sums.even / count};
}

}  // namespace

bool has_position_biases(const Trace& trace) {
  return std::any_of(trace.layers.begin(), trace.layers.end(), [](const LayerTrace& layer) {
    return recorded(layer, "position_bias") || recorded(layer, "window_bias");
  });
}

std::vector<PositionBias> position_biases(const Trace& trace, std::vector<std::int64_t> layers) {
  if (layers.empty()) {
    layers.resize(trace.layers.size());
    std::iota(layers.begin(), layers.end(), 0);
  }
  std::vector<PositionBias> biases;
  for (const std::int64_t index : layers) {
    const LayerTrace& layer = trace.layers.at(static_cast<std::size_t>(index));
    const Tensor* const window = recorded(layer, "window_bias");
    const Tensor* const w = window ? window : recorded(layer, "position_bias");
    if (!w) continue;
    const MechanismChoice& mechanism = mechanism_of(trace, layer);
    for (std::int64_t head = 0; head < w->extent(0); ++head) {
      PositionBias bias{.layer = index,
                        .head = head,
                        .heads = w->extent(0),
                        .windowed = window != nullptr,
                        .local = mechanism.name == "daft-local",
                        .causal = trace.causal,
                        .w = slice_of(*w, head),
                        .queries = window ? trace.queries(index) : w->extent(1),
                        .layout = layer.layout};
      if (bias.queries == 0) {
        bias.queries = bias.layout.prefix + bias.layout.rows * bias.layout.columns;
      }
      biases.push_back(std::move(bias));
    }
  }
  if (biases.empty()) {
    throw Error(ErrorKind::usage, "the trace holds no position biases")
        .about(trace.model_name)
        .remedy(trace.mechanism.name.starts_with("daft-")
                    ? "record them: attnscope trace --record quantities"
                    : "open a DAFT model, or lay daft-full or daft-conv over this one");
  }
  return biases;
}

MatrixD shown_bias(const PositionBias& bias) {
  return bias.w.unaryExpr([](double w) { return std::expm1(w); });
}

std::vector<double> query_bias(const PositionBias& bias, std::int64_t query) {
  if (query < 0 || query >= bias.queries) {
    throw Error(ErrorKind::usage, "the map has no such query")
        .about("query")
        .expected("0 to " + std::to_string(bias.queries - 1))
        .found(std::to_string(query));
  }
  const std::int64_t keys = bias.windowed ? bias.queries : bias.w.cols();
  std::vector<double> row(static_cast<std::size_t>(keys), 0.0);
  const std::int64_t prefix = bias.causal ? 0 : bias.layout.prefix;
  if (!bias.windowed) {
    for (std::int64_t key = 0; key < keys; ++key) {
      row[static_cast<std::size_t>(key)] = bias.w(query, key);
    }
  } else if (query >= prefix) {
    const std::int64_t line = bias.w.rows() > 1 ? bias.layout.columns : keys - prefix;
    const std::int64_t half_rows = bias.w.rows() / 2, half_columns = bias.w.cols() / 2;
    const std::int64_t from = query - prefix;
    for (std::int64_t key = prefix; key < keys; ++key) {
      const std::int64_t to = key - prefix;
      const std::int64_t down = to / line - from / line, right = to % line - from % line;
      const bool inside = std::abs(down) <= half_rows && std::abs(right) <= half_columns;
      if (inside) {
        row[static_cast<std::size_t>(key)] = bias.w(down + half_rows, right + half_columns);
      } else if (bias.local) {
        row[static_cast<std::size_t>(key)] = kNeverSeen;
      }
    }
  }
  for (std::int64_t key = query + 1; bias.causal && key < keys; ++key) {
    row[static_cast<std::size_t>(key)] = kNeverSeen;
  }
  return row;
}

BiasNumbers bias_numbers(const PositionBias& bias) {
  BiasNumbers numbers{.layer = bias.layer, .head = bias.head};
  const double top = bias.w.maxCoeff();
  const Eigen::ArrayXXd exponents = bias.w.array() - top;
  const double total = exponents.exp().sum();
  numbers.entropy_nats = std::log(total) - (exponents.exp() * exponents).sum() / total;
  numbers.largest_entropy_nats = std::log(static_cast<double>(bias.w.size()));
  const MatrixD shown = shown_bias(bias);
  numbers.largest = shown.maxCoeff();
  if (bias.windowed || shown.rows() == shown.cols()) {
    const MatrixD mirrored = bias.windowed ? MatrixD(shown.reverse()) : MatrixD(shown.transpose());
    const double norm = shown.norm();
    numbers.symmetry_error = norm > 0 ? (shown - mirrored).norm() / norm : 0;
  }
  const std::int64_t first = bias.layout.prefix, count = bias.queries - first;
  const std::int64_t keys = bias.windowed ? bias.queries : bias.w.cols();
  if (count < 1 || keys <= first) return numbers;
  numbers.mean_distance_tokens = numbers.even_distance_tokens = 0;
  std::vector<Distances> of_queries(static_cast<std::size_t>(count));
  tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t i) {
    of_queries[static_cast<std::size_t>(i)] = distances_of(bias, first + i);
  });
  for (const Distances& one : of_queries) {
    numbers.mean_distance_tokens += one.mean / static_cast<double>(count);
    numbers.even_distance_tokens += one.even / static_cast<double>(count);
  }
  return numbers;
}

std::vector<BiasNumbers> layer_means(const std::vector<BiasNumbers>& numbers) {
  constexpr double BiasNumbers::*quantities[] = {
      &BiasNumbers::entropy_nats, &BiasNumbers::largest_entropy_nats, &BiasNumbers::symmetry_error,
      &BiasNumbers::mean_distance_tokens, &BiasNumbers::even_distance_tokens};
  std::vector<BiasNumbers> means;
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = end) {
    BiasNumbers mean{.layer = numbers[first].layer, .head = -1};
    mean.largest = numbers[first].largest;
    while (end < numbers.size() && numbers[end].layer == mean.layer) {
      mean.largest = std::max(mean.largest, numbers[end++].largest);
    }
    for (const auto quantity : quantities) {
      double sum = 0, count = 0;
      for (std::size_t i = first; i < end; ++i) {
        if (std::isnan(numbers[i].*quantity)) continue;
        sum += numbers[i].*quantity;
        ++count;
      }
      mean.*quantity = count > 0 ? sum / count : BiasNumbers::kUnknown;
    }
    means.push_back(mean);
  }
  return means;
}

}  // namespace attnscope
