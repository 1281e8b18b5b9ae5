// See parallel_for.h.
#pragma once

#include <thread>

namespace tbb::this_task_arena {

inline int max_concurrency() { return static_cast<int>(std::thread::hardware_concurrency()); }

/// Calls `body`: here a thread never takes work of another loop.
template <class Body>
auto isolate(const Body& body) {
  return body();
}

}  // namespace tbb::this_task_arena
