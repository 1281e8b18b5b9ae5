// Tensors as they lie in files: any dtype, any strides, memory owned by whoever keeps the file
// open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/quantised.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// A read-only view of stored elements. Cheap to copy; `storage` keeps the memory (a mapped file, a
/// decompressed buffer) alive. Elements are little-endian, as on every machine the program runs on.
struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements, one per axis; may be 0 or overlap
  const std::byte* data = nullptr;    ///< first element
  std::shared_ptr<const void> storage;
  /// Of dtype quantised, and of no other: such a view is contiguous, its rows are whole blocks.
  const BlockLayout* blocks = nullptr;

  /// Strides of a contiguous row-major tensor of this shape.
  [[nodiscard]] static std::vector<std::int64_t> contiguous_strides(const Shape& shape);
  [[nodiscard]] bool is_contiguous() const;

  // Each of these reads the elements, and throws Error(io) if the file they are mapped from was
  // written to meanwhile.

  /// Copies into float32; integers and booleans become numbers, f64 is rounded, quantised elements
  /// are decoded (Error(unsupported) if their layout is not readable).
  [[nodiscard]] Tensor to_float() const;
  /// The same of rows `begin` to `end` (exclusive) alone, the view seen as [product of the leading
  /// extents, last extent]; `out` has room for (end − begin) × last extent.
  void rows_to_float(std::int64_t begin, std::int64_t end, float* out) const;
  /// Rows and columns of the view seen so.
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Copies into float64.
  [[nodiscard]] std::vector<double> to_double() const;
  /// Copies into int64; throws Error(unsupported) for floating types.
  [[nodiscard]] std::vector<std::int64_t> to_int64() const;

  /// How many elements are NaN and infinite (0 for integers). Reads every element; of quantised
  /// ones as rows_to_float does.
  struct NonFinite {
    std::int64_t nan = 0;
    std::int64_t infinite = 0;
  };
  [[nodiscard]] NonFinite count_non_finite() const;
};

}  // namespace attnscope
