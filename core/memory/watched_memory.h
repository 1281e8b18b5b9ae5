// Mapped memory that is watched for writers. A training run may rewrite its last.pt while it is
// read, and a page beyond the new end of the file would end the process (SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sys/types.h>

struct stat;

namespace attnscope {

/// Identity of a file, and the state that reveals changes to it.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  [[nodiscard]] static FileState of(const struct stat& status);
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// During its lifetime, reading `memory` beyond the end of a truncated file gives zeros in every
/// thread, and `check` reports it. The first object installs a SIGBUS handler for the process,
/// which passes signals outside watched memory to the previous handler.
class WatchedMemory {
 public:
  /// `memory` is the mapping of `file`; `state` is the file's state when it was mapped.
  WatchedMemory(std::span<const std::byte> memory, const std::filesystem::path& file,
                FileState state);
  ~WatchedMemory();
  WatchedMemory(const WatchedMemory&) = delete;
  WatchedMemory& operator=(const WatchedMemory&) = delete;

  /// Throws Error(io) if the file was written to or truncated since it was mapped. Call it after
  /// reading and before using the data. A file that was replaced by renaming is still intact.
  void check() const;

  /// True if `at` points into the memory or to its end.
  [[nodiscard]] bool holds(const void* at) const {
    const auto* const byte = static_cast<const std::byte*>(at);
    return byte >= memory_.data() && byte <= memory_.data() + memory_.size();
  }

 private:
  struct Range;
  class Signal;

  std::span<const std::byte> memory_;
  std::filesystem::path file_;
  FileState state_;
  Range* range_ = nullptr;
};

/// Calls `check` of the watched memory that `at` points into. Does nothing for other memory, such
/// as copied or decompressed elements. The caller keeps the mapping alive.
void check_unchanged(const void* at);

/// Releases the whole pages inside `memory` if it is in watched memory; does nothing otherwise.
/// Touched pages are read from the file again, which costs only a page fault while the system
/// caches them. The caller keeps the mapping alive; other threads may read it at the same time.
void release_pages_of_file(std::span<const std::byte> memory);

}  // namespace attnscope
