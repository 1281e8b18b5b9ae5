// Mean attention entropy of each map of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// One value per map, `heads` per layer: the mean over queries of the row entropy in nats, of the
/// map without I with rows normalised to sum 1. NaN if a map was not recorded, is all zero, or has
/// a negative weight, NaN or Inf.
struct MapEntropies {
  std::int64_t heads = 0;
  std::vector<double> nats;

  [[nodiscard]] double of(std::int64_t layer, std::int64_t head) const;
};
/// Computes all entropies on all cores.
[[nodiscard]] MapEntropies map_entropies(const Trace& trace);

}  // namespace attnscope
