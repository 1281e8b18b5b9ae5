// How a role's tensor is made of what a file stores: slices, exchanged axes, pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Taken in this order: one slice of the first axis, axes exchanged and merged, rows and columns
/// exchanged, further pieces below.
struct TensorSource {
  std::string tensor;
  bool transposed = false;            ///< a matrix stored as [in, out]
  std::vector<std::string> pieces;    ///< further tensors, whose rows follow: one a head
  std::optional<std::int64_t> slice;  ///< of the first axis: a layer of stacked ones
  /// Each axis as the stored axes it is made of, the slowest first: [D, H, d] becomes [H·d, D] by
  /// {{1, 2}, {0}}. Empty: as stored.
  std::vector<std::vector<std::int64_t>> axes;

  bool operator==(const TensorSource&) const = default;
};

/// The shape as it is used. Throws Error(damaged) naming the tensor where the axes are not those of
/// the tensor, or the pieces do not fit each other.
[[nodiscard]] Shape used_shape(const Checkpoint& checkpoint, const TensorSource& source);

/// How many heads the rows are stored by: one tensor each, or an axis of their own ([D, H, d] with
/// axes {{1, 2}, {0}}); 0 where the file does not tell them apart. Throws as used_shape.
[[nodiscard]] std::int64_t stored_heads(const Checkpoint& checkpoint, const TensorSource& source);

/// The tensor as it is used. Throws as used_shape.
[[nodiscard]] Tensor used_tensor(const Checkpoint& checkpoint, const TensorSource& source);

}  // namespace attnscope
