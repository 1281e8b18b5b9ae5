// Work on many inputs at once that can be stopped between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace attnscope {

/// Calls work(i) for i = 0 … count − 1, on all cores. `begin` is called as each begins, from any
/// thread, with how many were done by then; where it throws Cancelled nothing more is begun, and
/// what is begun is ended. Returns how many are done before the first that is not.
[[nodiscard]] std::size_t work_until_stopped(std::size_t count,
                                             const std::function<void(std::int64_t done)>& begin,
                                             const std::function<void(std::size_t i)>& work);

}  // namespace attnscope
