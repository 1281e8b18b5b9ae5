// Parallel loop that can be cancelled between its iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace attnscope {

/// Calls work(i) for i = 0 … count − 1, on all cores. `begin` is called when an iteration begins,
/// from any thread, with the number of iterations done so far. If it throws Cancelled, no further
/// iteration begins, and those that have begun are completed. Returns the number of iterations done
/// before the first missing one.
[[nodiscard]] std::size_t work_until_stopped(std::size_t count,
                                             const std::function<void(std::int64_t done)>& begin,
                                             const std::function<void(std::size_t i)>& work);

}  // namespace attnscope
