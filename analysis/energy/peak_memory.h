// The most memory the program held while something ran, as the operating system saw it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace attnscope {

/// Runs `work` and returns by how many bytes the resident memory of the whole program rose above
/// what it was, at most; absent where the system does not tell (it is Linux's VmHWM, reset through
/// /proc/self/clear_refs). What else runs meanwhile counts too; whole pages.
[[nodiscard]] std::optional<std::int64_t> peak_memory_of(const std::function<void()>& work);

}  // namespace attnscope
