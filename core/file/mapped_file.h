// A file mapped into memory, read-only: opening costs nothing, pages are read when touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/tensor/tensor_view.h"

namespace attnscope {

/// Shared by every TensorView into the file, so that the mapping lives as long as one of them.
/// A file that is truncated by another program while it is mapped ends the process (SIGBUS), as
/// with every memory-mapping reader; writers that rename are harmless.
class MappedFile {
 public:
  /// Throws Error(io) if the file cannot be opened, is no regular file, or cannot be mapped.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

/// The contiguous tensor at byte `offset` of `file`. Throws Error(damaged) unless it lies wholly
/// inside.
[[nodiscard]] TensorView view_of(const std::shared_ptr<const MappedFile>& file,
                                 std::uint64_t offset, DType dtype, Shape shape);

/// element_count(shape) × size_of(dtype). Throws Error(damaged) where that passes 2^62.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, DType dtype);

}  // namespace attnscope
