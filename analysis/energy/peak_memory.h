// Peak memory of the process while a function runs, as reported by the operating system.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace attnscope {

/// Runs `work` and returns the maximum increase in bytes of the process's resident memory; empty if
/// the system does not report it (Linux: VmHWM, reset through /proc/self/clear_refs). Includes
/// other threads; the resolution is one page.
[[nodiscard]] std::optional<std::int64_t> peak_memory_of(const std::function<void()>& work);

}  // namespace attnscope
