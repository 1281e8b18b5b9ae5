// A file that lies in memory only, for libraries that read nothing but files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace attnscope {

/// Holds a copy of `bytes` under `path()` while it lives; whatever opened the path meanwhile keeps
/// what it opened. Only this user can read it.
class MemoryFile {
 public:
  /// Throws Error(io) if there is not enough memory for such files (/dev/shm).
  explicit MemoryFile(std::span<const std::byte> bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void remove();

  std::filesystem::path path_;
};

}  // namespace attnscope
