// How widely each map of a trace spreads its attention.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// Of every map, layer by layer, `heads` places each: the mean over its queries of the entropy of
/// their rows in nats, of the map without I, rows divided by their sums. NaN where a map has none:
/// not recorded, a weight below 0, all zero, NaN or Inf.
struct MapEntropies {
  std::int64_t heads = 0;
  std::vector<double> nats;

  [[nodiscard]] double of(std::int64_t layer, std::int64_t head) const;
};
/// All cores.
[[nodiscard]] MapEntropies map_entropies(const Trace& trace);

}  // namespace attnscope
