#include "analysis/spectrum/map_turn.h"

#include <algorithm>
#include <mutex>
#include <tbb/task_arena.h>

namespace attnscope {

bool has_computed_maps(const Trace& trace) {
  return std::ranges::any_of(
      trace.layers, [](const LayerTrace& layer) { return layer.implied_map.are_computed(); });
}

void take_turn_at_computed_map(const std::function<void()>& look) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  tbb::this_task_arena::isolate(look);  // waiting threads must not start work that needs the mutex
}

}  // namespace attnscope
