// See parallel_for.h.
#pragma once

#include <mutex>
#include <utility>

namespace tbb {

using collaborative_once_flag = std::once_flag;

/// Calls `function` unless an earlier call with the flag has succeeded, and waits for its end.
template <class Function>
void collaborative_call_once(collaborative_once_flag& flag, Function&& function) {
  std::call_once(flag, std::forward<Function>(function));
}

}  // namespace tbb
