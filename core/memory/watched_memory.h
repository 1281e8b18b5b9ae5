// Memory that a file is mapped to, watched for writers: a training run rewrites its last.pt while
// it is being read, and a page that the file no longer has would end the process (SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sys/types.h>

struct stat;

namespace attnscope {

/// By which a file is known again, and by which a change to it is seen.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  [[nodiscard]] static FileState of(const struct stat& status);
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// While it lives, reading `memory` beyond the end of a file that has become shorter gives zeros,
/// in every thread, and `check` says so. The first one made takes over the process's SIGBUS; what
/// is not about watched memory goes on to whoever had it before.
class WatchedMemory {
 public:
  /// `memory` is the mapping of `file`, whose state was `state` when it was made.
  WatchedMemory(std::span<const std::byte> memory, const std::filesystem::path& file,
                FileState state);
  ~WatchedMemory();
  WatchedMemory(const WatchedMemory&) = delete;
  WatchedMemory& operator=(const WatchedMemory&) = delete;

  /// To be called after reading, before what was read is used. Throws Error(io) if the file was
  /// written to or cut off since it was mapped. A file that another took the place of (a writer
  /// that renames) is still whole.
  void check() const;

  /// Whether `at` points into it, or just behind.
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

/// `check` of the watched memory that `at` points into; nothing if there is none, as for elements
/// that were copied or decompressed. The caller keeps the mapping alive.
void check_unchanged(const void* at);

/// Whole pages inside `memory` need no room any more, where it lies in watched memory; nothing
/// happens elsewhere. They are read from the file again when they are touched, which costs no more
/// than a fault as long as the system still caches them. The caller keeps the mapping alive; other
/// threads may read it meanwhile.
void give_back_pages(std::span<const std::byte> memory);

}  // namespace attnscope
