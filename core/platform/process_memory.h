// Memory of this process: how much the operating system says is in use, and how freed memory is
// returned to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace attnscope {

/// Runs `work` and returns the maximum increase in bytes of the process's resident memory; empty if
/// the system does not report it (Linux: VmHWM, reset through /proc/self/clear_refs). Includes
/// other threads; the resolution is one page. getrusage does not replace it: its maximum cannot be
/// reset, so that work which needs less than earlier work would seem to need nothing.
[[nodiscard]] std::optional<std::int64_t> peak_memory_of(const std::function<void()>& work);

/// Size of the process's address space in use, in bytes, which RLIMIT_AS limits. Empty if unknown
/// (Linux: VmSize).
[[nodiscard]] std::optional<std::int64_t> address_space_in_use();

/// Returns freed heap memory to the operating system (malloc_trim), for use after work on large
/// tensors. Takes about a millisecond. Does nothing without glibc.
void release_freed_memory();

/// Makes malloc return large blocks to the system as soon as they are freed. By default glibc keeps
/// freed blocks of up to 32 MiB for the thread that used them. The activations of a layer at 8,100
/// tokens are of this size, and each thread would hold some unused. Called once, before threads
/// start. Does nothing without glibc.
void release_large_blocks_when_freed();

}  // namespace attnscope
