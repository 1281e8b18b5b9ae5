// A weight as its file has it, made float32 piece by piece while it is multiplied with: a large
// model is never in float32 as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// A matrix [rows, columns]: float32 in memory, or rows of a file in whatever type it has them, in
/// an order of its own. Immutable, safe to share between threads; a copy shares the numbers.
class WeightMatrix {
 public:
  WeightMatrix() = default;
  WeightMatrix(Tensor values);  // NOLINT(google-explicit-constructor): a matrix is a weight
  /// `stored`: of rank 2.
  explicit WeightMatrix(TensorView stored);

  [[nodiscard]] bool empty() const { return rows() == 0 || columns() == 0; }
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;
  /// Whether all of it is in memory as float32.
  [[nodiscard]] bool in_memory() const { return !stored_; }

  /// `count` rows from `first` on, [count, columns]: where they lie, or in `room`. Throws as
  /// TensorView::rows_to_float.
  [[nodiscard]] const float* read(std::int64_t first, std::int64_t count,
                                  std::vector<float>& room) const;
  /// What was read of the file need not stay in memory: it is read from there again. Small ones
  /// stay.
  void give_back() const;
  /// Those rows, in that order; still in the file if this is.
  [[nodiscard]] WeightMatrix with_rows(std::vector<std::int64_t> rows) const;

 private:
  std::shared_ptr<const Tensor> values_;
  std::optional<TensorView> stored_;
  std::vector<std::int64_t> order_;  // of stored rows; empty: as they are
};

}  // namespace attnscope
