// A weight as its file has it, made float32 piece by piece while it is multiplied with: a large
// model is never in float32 as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// Rows of float32 from wherever they are kept. What a file stores in another way (quantised
/// blocks) is another kind of this. Immutable, safe to share between threads.
class StoredRows {
 public:
  virtual ~StoredRows() = default;

  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t columns() const = 0;
  /// Writes `count` rows from `first` on to `out`, [count, columns].
  virtual void read(std::int64_t first, std::int64_t count, float* out) const = 0;
};

/// The rows of a view of rank 2, of any type and strides.
[[nodiscard]] std::shared_ptr<const StoredRows> rows_of_view(TensorView view);

/// A matrix [rows, columns]: float32 in memory, or rows of a file, in an order of its own.
class WeightMatrix {
 public:
  WeightMatrix() = default;
  WeightMatrix(Tensor values);  // NOLINT(google-explicit-constructor): a matrix is a weight
  explicit WeightMatrix(std::shared_ptr<const StoredRows> stored) : stored_(std::move(stored)) {}

  [[nodiscard]] bool empty() const { return rows() == 0 || columns() == 0; }
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;
  /// Whether all of it is in memory as float32.
  [[nodiscard]] bool in_memory() const { return !stored_; }

  /// `count` rows from `first` on, [count, columns]: where they lie, or in `room`.
  [[nodiscard]] const float* read(std::int64_t first, std::int64_t count,
                                  std::vector<float>& room) const;
  /// Those rows, in that order; still in the file if this is.
  [[nodiscard]] WeightMatrix with_rows(std::vector<std::int64_t> rows) const;

 private:
  Tensor values_;
  std::shared_ptr<const StoredRows> stored_;
  std::vector<std::int64_t> order_;  // of stored rows; empty: as they are
};

}  // namespace attnscope
