#include "core/platform/process_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace attnscope {

namespace {

/// Reads a line of /proc/self/status, "VmRSS:   1234 kB", in bytes. Empty on systems without it.
std::optional<std::int64_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    std::int64_t kibibytes = 0;
    if (!(words >> kibibytes)) return std::nullopt;
    return kibibytes * 1024;
  }
  return std::nullopt;
}

/// False on systems without the file, where the stream is not open.
bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  return file.good();
}

}  // namespace

std::optional<std::int64_t> peak_memory_of(const std::function<void()>& work) {
  // Freed memory that the allocator keeps would be reused without raising the peak.
  release_freed_memory();
  const bool can_tell = reset_peak();
  const std::optional<std::int64_t> before = status_bytes("VmRSS");
  work();
  const std::optional<std::int64_t> most = status_bytes("VmHWM");
  if (!can_tell || !before || !most) return std::nullopt;
  return std::max<std::int64_t>(*most - *before, 0);
}

std::optional<std::int64_t> address_space_in_use() { return status_bytes("VmSize"); }

void release_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void release_large_blocks_when_freed() {
#ifdef __GLIBC__
  constexpr int kLarge = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLarge);  // the value of glibc's own tuning
#endif
}

}  // namespace attnscope
