// Read-only memory mapping of a file. Pages are read when they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/error.h"
#include "core/platform/file_mapping.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// A mapped file, kept alive by every TensorView into it. If another program writes to the file,
/// the bytes are undefined (zeros where the file became shorter), and `check_unchanged` reports it.
/// Writers that replace the file by renaming are harmless.
class MappedFile {
 public:
  /// Throws Error(io) if the file cannot be opened, is not a regular file, or cannot be mapped.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  [[nodiscard]] std::size_t size() const { return mapping_.bytes().size(); }

  /// Throws Error(io) if the file changed since it was opened. Call it after reading and before
  /// using the data; TensorView calls it itself.
  void check_unchanged() const { mapping_.check(); }

 private:
  MappedFile(int descriptor, const std::filesystem::path& path) : mapping_(descriptor, path) {}

  FileMapping mapping_;
};

/// Returns `read()` if `check()` does not throw. An exception of `check` takes precedence over an
/// Error of `read`.
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

/// Returns `read()` if `file` did not change in the meantime, else throws Error(io), even if `read`
/// throws: a partly rewritten file looks damaged.
template <class Read>
auto read_unchanged(const MappedFile& file, Read&& read) {
  return read_and_check(read, [&] { file.check_unchanged(); });
}

/// Like the overload for files, for bytes that may be in a mapped file, which the caller keeps
/// open.
template <class Read>
auto read_unchanged(std::span<const std::byte> bytes, Read&& read) {
  return read_and_check(read, [&] { check_unchanged(bytes.data()); });
}

/// The contiguous tensor at byte `offset` of `file`. Throws Error(damaged) unless it is entirely
/// inside the file.
[[nodiscard]] TensorView view_of(const std::shared_ptr<const MappedFile>& file,
                                 std::uint64_t offset, DType dtype, Shape shape);
/// The contiguous tensor at byte `offset` of a file's bytes, which `storage` keeps alive. Throws
/// Error(damaged) unless it is entirely inside.
[[nodiscard]] TensorView view_of(std::span<const std::byte> file,
                                 std::shared_ptr<const void> storage, std::uint64_t offset,
                                 DType dtype, Shape shape);

/// element_count(shape) × size_of(dtype). Throws Error(damaged) if the product exceeds 2^62.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, DType dtype);

}  // namespace attnscope
