// Views of stored tensors: any dtype, any strides, memory owned by the file's mapping or a buffer.
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

struct StoredFactors;

/// A read-only view of stored elements. Cheap to copy; `storage` keeps the memory (a mapped file, a
/// decompressed buffer) alive. Elements are little-endian, as on every machine the program runs on.
struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements, one per axis; may be 0 or overlap
  const std::byte* data = nullptr;    ///< first element
  std::shared_ptr<const void> storage;
  /// Layout of dtype quantised, else null. A quantised view is contiguous and its rows are whole
  /// blocks.
  const BlockLayout* blocks = nullptr;
  /// Factors of quantised elements that the file stores apart, else null.
  std::shared_ptr<const StoredFactors> factors = {};

  /// Strides of a contiguous row-major tensor of this shape.
  [[nodiscard]] static std::vector<std::int64_t> contiguous_strides(const Shape& shape);
  [[nodiscard]] bool is_contiguous() const;

  // The following members that read elements throw Error(io) if the mapped file was changed in the
  // meantime.

  /// Copies into float32; integers and booleans become numbers, f64 is rounded, quantised elements
  /// are decoded (Error(unsupported) if their layout is not readable).
  [[nodiscard]] Tensor to_float() const;
  /// Like to_float, but only for rows `begin` to `end` (exclusive) of the view as a matrix [product
  /// of the leading dimensions, last dimension]. `out` has (end − begin) × columns() elements.
  void rows_to_float(std::int64_t begin, std::int64_t end, float* out) const;
  /// Rows and columns of the view as a matrix.
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Copies into float64.
  [[nodiscard]] std::vector<double> to_double() const;
  /// Copies into int64; throws Error(unsupported) for floating types.
  [[nodiscard]] std::vector<std::int64_t> to_int64() const;

  /// Numbers of NaN and infinite elements (0 for integers). Reads every element; quantised elements
  /// like rows_to_float.
  struct NonFinite {
    std::int64_t nan = 0;
    std::int64_t infinite = 0;
  };
  [[nodiscard]] NonFinite count_non_finite() const;
};

/// Factors of the elements of a matrix, one for each tile of `rows` × `columns`; the last tiles may
/// be smaller.
struct StoredFactors {
  TensorView values;
  std::int64_t rows = 1, columns = 1;
};

/// Releases the pages of a mapped file from the first of these elements to the last, until they are
/// read again (release_pages_of_file). Does nothing for elements elsewhere.
void release_pages(const TensorView& view);

}  // namespace attnscope
