// Work on all cores, for code that is compiled with Qt's keywords (TBB has members named `emit`).
#pragma once

#include <cstdint>
#include <functional>

namespace attnscope {

/// Calls `work` once for each of 0 … count − 1, in any order, on several threads.
void for_each_index(std::int64_t count, const std::function<void(std::int64_t)>& work);

}  // namespace attnscope
