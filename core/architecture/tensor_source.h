// Builds a role's tensor from stored tensors: slices, permuted axes, concatenated pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Range of rows, in 1/`of` of all rows; in rows if `of` is 0.
struct RowRange {
  std::int64_t first = 0, count = 1, of = 0;

  bool operator==(const RowRange&) const = default;
};

/// Source of a role's tensor. The steps are applied in this order: a slice of the first axis, a new
/// shape, permuted and merged axes, transposition, a range of rows; further pieces are treated
/// alike and appended.
struct TensorSource {
  std::string tensor;
  bool transposed = false;            ///< matrix stored as [in, out]
  std::vector<std::string> pieces;    ///< further tensors that are appended along the rows
  bool counted = false;               ///< one tensor per head, or per expert
  std::optional<std::int64_t> slice;  ///< index along the first axis: one layer of a stacked tensor
  Shape shape;  ///< shape of the stored values; one dimension may be −1. Empty: as stored
  /// Stored axes that make up each axis, slowest first: [D, H, d] becomes [H·d, D] by {{1, 2},
  /// {0}}. Empty: as stored.
  std::vector<std::vector<std::int64_t>> axes;
  std::optional<RowRange> rows;

  bool operator==(const TensorSource&) const = default;
};

/// Shape of the resulting tensor. Throws Error(damaged) naming the tensor if the axes do not match
/// it or the pieces do not fit together.
[[nodiscard]] Shape used_shape(const Checkpoint& checkpoint, const TensorSource& source);

/// Number of heads, or of experts, by which the rows are stored: one tensor each, or a separate
/// axis ([D, H, d] with axes {{1, 2}, {0}}); 0 if the file does not separate them. Throws like
/// used_shape.
[[nodiscard]] std::int64_t stored_parts(const Checkpoint& checkpoint, const TensorSource& source);

/// Rows taken from a source's first tensor; `of` is the number of all rows. Throws like used_shape.
[[nodiscard]] RowRange used_rows(const Checkpoint& checkpoint, const TensorSource& source);

/// Resulting tensor. Throws like used_shape.
[[nodiscard]] Tensor used_tensor(const Checkpoint& checkpoint, const TensorSource& source);

}  // namespace attnscope
