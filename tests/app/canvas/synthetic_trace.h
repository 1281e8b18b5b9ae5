// Traces with maps that are known in closed form.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/trace/trace.h"

namespace attnscope {

/// A trace with maps value(layer, head, query, key). `prefix` class tokens stand before the
/// patches, which form a square grid if their number is a square.
inline std::shared_ptr<Trace> synthetic_trace(
    std::int64_t layers, std::int64_t heads, std::int64_t tokens,
    const std::function<float(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& value,
    std::int64_t prefix = 1) {
  auto trace = std::make_shared<Trace>();
  trace->model_name = "synthetic";
  trace->layout.prefix = prefix;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(tokens - prefix)));
  if (side * side == tokens - prefix) trace->layout.rows = trace->layout.columns = side;
  trace->layers.resize(static_cast<std::size_t>(layers));
  for (std::int64_t l = 0; l < layers; ++l) {
    Tensor map({heads, tokens, tokens});
    float* cell = map.data();
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t q = 0; q < tokens; ++q) {
        for (std::int64_t k = 0; k < tokens; ++k) *cell++ = value(l, h, q, k);
      }
    }
    trace->layers[static_cast<std::size_t>(l)].implied_map = std::move(map);
  }
  return trace;
}

/// A trace whose rows sum to one and peak near the diagonal, more widely in later layers.
inline std::shared_ptr<Trace> banded_trace(std::int64_t layers, std::int64_t heads,
                                           std::int64_t tokens) {
  auto trace = synthetic_trace(layers, heads, tokens, [](auto l, auto h, auto q, auto k) {
    const double width = 2.0 + 3.0 * static_cast<double>(l) + 2.0 * static_cast<double>(h);
    const double away = static_cast<double>(q - k) / width;
    return static_cast<float>(std::exp(-0.5 * away * away) + (k == 0 ? 0.3 : 0.0));
  });
  for (LayerTrace& layer : trace->layers) {
    auto rows = layer.implied_map.whole().matrix();
    for (Eigen::Index r = 0; r < rows.rows(); ++r) rows.row(r) /= rows.row(r).sum();
  }
  return trace;
}

}  // namespace attnscope
