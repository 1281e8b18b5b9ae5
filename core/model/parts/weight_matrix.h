// A weight matrix in its file's dtype that is converted to float32 in pieces during multiplication,
// so that a large model is never entirely in float32.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// A matrix [rows, columns]: float32 in memory, or rows of a file in any dtype, optionally
/// reordered. Immutable and safe to share between threads; a copy shares the data.
class WeightMatrix {
 public:
  WeightMatrix() = default;
  WeightMatrix(Tensor values);  // NOLINT(google-explicit-constructor): a matrix is a weight
  /// `stored` must have rank 2.
  explicit WeightMatrix(TensorView stored);

  [[nodiscard]] bool empty() const { return rows() == 0 || columns() == 0; }
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;
  /// True if the whole matrix is in memory as float32.
  [[nodiscard]] bool in_memory() const { return !stored_; }

  /// `count` rows from `first` on, [count, columns]: a pointer into memory, or into the buffer
  /// `room`. Throws like TensorView::rows_to_float.
  [[nodiscard]] const float* read(std::int64_t first, std::int64_t count,
                                  std::vector<float>& room) const;
  /// True for rows of a file in one of ggml's layouts, which multiply_row reads as they are.
  [[nodiscard]] bool is_quantised() const {
    return stored_ && stored_->blocks && stored_->blocks->ggml_type != kNoGgmlType;
  }
  /// The products of x [columns] with `count` rows from `first` on, [count]; only if is_quantised.
  /// They are of no use if check_file throws afterwards.
  void multiply_row(std::int64_t first, std::int64_t count, const float* x, float* out) const;
  /// Throws Error(io) if the file of the rows was changed since it was opened.
  void check_file() const;
  /// Releases the memory of rows that were read from the file; they are read from there again if
  /// needed. Small matrices are kept.
  void release_pages() const;
  /// The given rows in that order; they stay in the file if this matrix does.
  [[nodiscard]] WeightMatrix with_rows(std::vector<std::int64_t> rows) const;

 private:
  /// Calls use(first stored row, number, place in the result) for rows that follow each other in
  /// the file.
  template <class Use>
  void for_runs(std::int64_t first, std::int64_t count, const Use& use) const;

  std::shared_ptr<const Tensor> values_;
  std::optional<TensorView> stored_;
  std::vector<std::int64_t> order_;  // order of the stored rows; empty if unchanged
};

}  // namespace attnscope
