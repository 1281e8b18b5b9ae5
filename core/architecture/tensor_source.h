// How a role's tensor is made of what a file stores: slices, exchanged axes, pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Some of the rows, in `of`-ths of all; with `of` 0 in rows.
struct RowRange {
  std::int64_t first = 0, count = 1, of = 0;

  bool operator==(const RowRange&) const = default;
};

/// Taken in this order: one slice of the first axis, the rest read as another shape, axes exchanged
/// and merged, rows and columns exchanged, some of the rows; then further pieces below, each taken
/// alike.
struct TensorSource {
  std::string tensor;
  bool transposed = false;            ///< a matrix stored as [in, out]
  std::vector<std::string> pieces;    ///< further tensors, whose rows follow
  bool by_head = false;               ///< one tensor a head
  std::optional<std::int64_t> slice;  ///< of the first axis: a layer of stacked ones
  Shape shape;  ///< what is stored is read as this; one extent may be −1. Empty: as stored
  /// Each axis as the stored axes it is made of, the slowest first: [D, H, d] becomes [H·d, D] by
  /// {{1, 2}, {0}}. Empty: as stored.
  std::vector<std::vector<std::int64_t>> axes;
  std::optional<RowRange> rows;

  bool operator==(const TensorSource&) const = default;
};

/// The shape as it is used. Throws Error(damaged) naming the tensor where the axes are not those of
/// the tensor, or the pieces do not fit each other.
[[nodiscard]] Shape used_shape(const Checkpoint& checkpoint, const TensorSource& source);

/// How many heads the rows are stored by: one tensor each, or an axis of their own ([D, H, d] with
/// axes {{1, 2}, {0}}); 0 where the file does not tell them apart. Throws as used_shape.
[[nodiscard]] std::int64_t stored_heads(const Checkpoint& checkpoint, const TensorSource& source);

/// Which rows are taken of a source's first tensor, `of` how many. Throws as used_shape.
[[nodiscard]] RowRange used_rows(const Checkpoint& checkpoint, const TensorSource& source);

/// The tensor as it is used. Throws as used_shape.
[[nodiscard]] Tensor used_tensor(const Checkpoint& checkpoint, const TensorSource& source);

}  // namespace attnscope
