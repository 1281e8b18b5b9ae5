// A file mapped into memory, read-only: opening costs nothing, pages are read when touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/error.h"
#include "core/memory/watched_memory.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// Shared by every TensorView into the file, so that the mapping lives as long as one of them.
/// Another program may write to the file meanwhile: the bytes are then anything, zeros where the
/// file has become shorter, and `check_unchanged` tells. Writers that rename are harmless.
class MappedFile {
 public:
  /// Throws Error(io) if the file cannot be opened, is no regular file, or cannot be mapped.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return mapping_.bytes; }
  [[nodiscard]] std::size_t size() const { return mapping_.bytes.size(); }

  /// To be called after reading, before what was read is believed; TensorView does so itself.
  /// Throws Error(io) if the file changed since it was opened.
  void check_unchanged() const { watched_.check(); }

 private:
  /// Unmapped only when it is no longer watched: another mapping may then have the same place.
  struct Mapping {
    std::span<const std::byte> bytes;
    ~Mapping();
  };

  MappedFile(std::span<const std::byte> bytes, const std::filesystem::path& path, FileState state)
      : mapping_{bytes}, watched_(bytes, path, state) {}

  Mapping mapping_;
  WatchedMemory watched_;
};

/// What `read()` returns if `check()` throws nothing; what `check` throws comes before an error of
/// `read`.
template <class Read, class Check>
auto read_and_check(Read&& read, Check&& check) {
  try {
    auto result = read();
    check();
    return result;
  } catch (const Error&) {
    check();
    throw;
  }
}

/// What `read()` returns if `file` stayed the same meanwhile. Throws Error(io) if not, also in
/// place of an error that `read` throws: half a new file looks damaged.
template <class Read>
auto read_unchanged(const MappedFile& file, Read&& read) {
  return read_and_check(read, [&] { file.check_unchanged(); });
}

/// The same of bytes that may lie in a mapped file, which the caller keeps open.
template <class Read>
auto read_unchanged(std::span<const std::byte> bytes, Read&& read) {
  return read_and_check(read, [&] { check_unchanged(bytes.data()); });
}

/// The contiguous tensor at byte `offset` of `file`. Throws Error(damaged) unless it lies wholly
/// inside.
[[nodiscard]] TensorView view_of(const std::shared_ptr<const MappedFile>& file,
                                 std::uint64_t offset, DType dtype, Shape shape);
/// The same of a file's bytes, which `storage` keeps alive.
[[nodiscard]] TensorView view_of(std::span<const std::byte> file,
                                 std::shared_ptr<const void> storage, std::uint64_t offset,
                                 DType dtype, Shape shape);

/// element_count(shape) × size_of(dtype). Throws Error(damaged) where that passes 2^62.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, DType dtype);

}  // namespace attnscope
