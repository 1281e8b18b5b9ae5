#include "app/canvas/map_entropy.h"

#include <algorithm>
#include <limits>

#include "analysis/heads/row_weights.h"
#include "analysis/spectrum/map_turn.h"
#include "app/canvas/parallel.h"

namespace attnscope {

namespace {

double entropy_of(const Trace& trace, std::int64_t layer, std::int64_t head) {
  const ImpliedMaps& maps = trace.layers[static_cast<std::size_t>(layer)].implied_map;
  const bool recorded = maps.shape().size() == 3 && head < maps.extent(0);
  if (!recorded) return std::numeric_limits<double>::quiet_NaN();
  MatrixD map = maps.head(head).cast<double>();
  if (has_identity(trace, layer) && map.rows() == map.cols()) map.diagonal().array() -= 1;
  if (state_of(map) != HeadState::ready) return std::numeric_limits<double>::quiet_NaN();
  return RowWeights(std::move(map)).entropy();
}

}  // namespace

double MapEntropies::of(std::int64_t layer, std::int64_t head) const {
  const std::int64_t at = layer * heads + head;
  const bool exists = head >= 0 && head < heads && at >= 0 && at < std::ssize(nats);
  return exists ? nats[static_cast<std::size_t>(at)] : std::numeric_limits<double>::quiet_NaN();
}

MapEntropies map_entropies(const Trace& trace) {
  MapEntropies all;
  const auto layers = std::ssize(trace.layers);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    all.heads = std::max(all.heads, trace.heads(layer));
  }
  all.nats.resize(static_cast<std::size_t>(layers * all.heads));
  const auto compute = [&](std::int64_t at) {
    all.nats[static_cast<std::size_t>(at)] = entropy_of(trace, at / all.heads, at % all.heads);
  };
  if (has_computed_maps(trace)) {
    for (std::int64_t at = 0; at < layers * all.heads; ++at) {
      take_turn_at_computed_map([&] { compute(at); });
    }
  } else {
    for_each_index(layers * all.heads, compute);
  }
  return all;
}

}  // namespace attnscope
