#include "analysis/spectrum/map_batch.h"

#include <algorithm>
#include <atomic>
#include <tbb/task_arena.h>
#include <vector>

#include "core/error.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

std::vector<MapIndex> recorded_maps(const Trace& trace, std::span<const std::int64_t> layers,
                                    bool factors_do) {
  for (const std::int64_t layer : layers) (void)recorded_layer(trace, layer);
  const auto count = std::ssize(trace.layers);
  std::vector<MapIndex> places;
  for (std::int64_t layer = 0; layer < count; ++layer) {
    if (!layers.empty() && std::find(layers.begin(), layers.end(), layer) == layers.end()) continue;
    const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
    std::int64_t heads = recorded.implied_map.empty() ? 0 : recorded.implied_map.extent(0);
    if (factors_do && recorded.factors) heads = recorded.factors->left.extent(0);
    for (std::int64_t head = 0; head < heads; ++head) places.push_back({layer, head});
  }
  if (places.empty()) {
    throw Error(ErrorKind::usage, "the trace holds no attention maps")
        .remedy("record them: implied maps are part of `attnscope trace` unless left out");
  }
  return places;
}

std::optional<ConstMatrixDMap> exact_map(const LayerTrace& layer, std::int64_t head) {
  if (!layer.exact_map) return std::nullopt;
  const std::int64_t rows = layer.implied_map.extent(1), columns = layer.implied_map.extent(2);
  return ConstMatrixDMap(layer.exact_map->data() + head * rows * columns, rows, columns);
}

MatrixD map_seen(const Trace& trace, const MapIndex& place, IdentityView view) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  const std::optional<ConstMatrixDMap> exact = exact_map(layer, place.head);
  const ImpliedMaps& maps = layer.implied_map;
  MatrixD map = exact                  ? MatrixD(*exact)
                : maps.is_held_whole() ? MatrixD(maps.slice(place.head).cast<double>())
                                       : MatrixD(maps.head(place.head).cast<double>());
  const bool wanted = has_identity(trace, place.layer, view);
  if (wanted != has_identity(trace, place.layer)) {
    map.diagonal().array() += wanted ? 1.0 : -1.0;
  }
  return map;
}

std::size_t work_until_stopped(std::size_t count,
                               const std::function<void(std::int64_t done)>& begin,
                               const std::function<void(std::size_t i)>& work) {
  std::vector<char> ready(count, 0);
  std::atomic<std::int64_t> done{0};
  for_single_ones(count, [&](std::size_t i) {
    try {
      begin(done);
    } catch (const Cancelled&) {
      return;  // inputs that have begun are completed and counted
    }
    // A thread that waits for maps of this input must not begin another input: memory would grow.
    tbb::this_task_arena::isolate([&] { work(i); });
    ready[i] = 1;
    ++done;
  });
  return static_cast<std::size_t>(std::ranges::find(ready, 0) - ready.begin());
}

}  // namespace attnscope
