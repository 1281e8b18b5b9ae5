// Header of NumPy's .npy format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tensor/tensor_view.h"

namespace attnscope {

struct NpyHeader {
  DType dtype = DType::f32;
  bool big_endian = false;
  bool fortran_order = false;  ///< the first axis varies fastest
  Shape shape;
  std::uint64_t data_offset = 0;  ///< offset of the elements from the start of the .npy, in bytes
};

/// Upper bound of the header's length in bytes.
constexpr std::uint64_t longest_npy_header = 65536 + 12;

/// True if the bytes start with the magic of .npy.
[[nodiscard]] bool is_npy(std::span<const std::byte> start);

/// Reads the header at the start of a .npy. Throws Error(damaged), or Error(unsupported) naming the
/// element type: Python objects (a pickle), text, records, complex numbers.
[[nodiscard]] NpyHeader read_npy_header(std::span<const std::byte> start);

/// The array. `elements` are the bytes after the header, kept alive by `storage`. Big-endian
/// elements are copied and byte-swapped. Throws Error(damaged) if the number of bytes does not
/// match the shape.
[[nodiscard]] TensorView view_npy(const NpyHeader& header, std::span<const std::byte> elements,
                                  std::shared_ptr<const void> storage);

}  // namespace attnscope
