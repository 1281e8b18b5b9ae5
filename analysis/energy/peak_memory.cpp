#include "analysis/energy/peak_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/tensor/release_pages.h"

namespace attnscope {

namespace {

/// Reads a line of /proc/self/status, "VmRSS:   1234 kB", in bytes.
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

}  // namespace attnscope
