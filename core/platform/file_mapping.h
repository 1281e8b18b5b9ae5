// Read-only mappings of files that other programs may write to. A training run may rewrite its
// last.pt while it is read, and touching a page beyond the new end of a file would end the process
// with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace attnscope {

/// The mapped bytes of a file. Pages are read when they are touched. During its lifetime, reading
/// beyond the end of a truncated file gives zeros in every thread, and `check` reports it. The
/// first object installs a SIGBUS handler for the process, which passes signals outside mapped
/// files to the previous handler.
class FileMapping {
 public:
  /// Maps the whole file of the open `descriptor`, which may be closed afterwards. `path` names the
  /// file in errors and in `check`. Throws Error(io) if the system cannot map it.
  FileMapping(int descriptor, const std::filesystem::path& path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  /// Empty if the file is.
  [[nodiscard]] std::span<const std::byte> bytes() const { return mapped_.bytes; }

  /// Throws Error(io) if the file was written to or truncated since it was mapped. Call it after
  /// reading and before using the data. A file that was replaced by renaming is still intact.
  void check() const;

  /// True if `at` points into the bytes or to their end.
  [[nodiscard]] bool holds(const void* at) const {
    const auto* const byte = static_cast<const std::byte*>(at);
    return byte >= bytes().data() && byte <= bytes().data() + bytes().size();
  }

 private:
  /// Identity of a file, and the state that reveals changes to it.
  struct State;
  struct Range;
  class Signal;

  /// Declared first, so that unmapping comes after the end of watching: the address range may be
  /// reused at once.
  struct Mapped {
    std::span<const std::byte> bytes;
    ~Mapped();
  };

  Mapped mapped_;
  std::filesystem::path file_;
  std::unique_ptr<const State> state_;
  Range* range_ = nullptr;
};

/// Calls `check` of the mapping that `at` points into. Does nothing for other memory, such as
/// copied or decompressed elements. The caller keeps the mapping alive.
void check_unchanged(const void* at);

/// Releases the whole pages inside `memory` if it is in a mapped file; does nothing otherwise.
/// Touched pages are read from the file again, which costs only a page fault while the system
/// caches them. The caller keeps the mapping alive; other threads may read it at the same time.
void release_pages_of_file(std::span<const std::byte> memory);

}  // namespace attnscope
