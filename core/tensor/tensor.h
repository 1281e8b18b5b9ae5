// Tensors for computation: float32, contiguous, row-major, owning.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
using MatrixMap = Eigen::Map<Matrix>;
using ConstMatrixMap = Eigen::Map<const Matrix>;
/// Columns of a wider matrix, e.g. one head's columns of [N, D]: outer stride D, inner stride 1.
using ConstStridedMatrixMap = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using StridedMatrixMap = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

/// A float32 tensor. Copying copies the values.
class Tensor {
 public:
  Tensor() = default;
  /// Creates a tensor of zeros.
  explicit Tensor(Shape shape);
  /// Throws Error(damaged) unless `values` has element_count(shape) elements.
  Tensor(Shape shape, const std::vector<float>& values);
  /// Creates an uninitialised tensor. Every value must be written before it is read.
  [[nodiscard]] static Tensor unfilled(Shape shape);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return shape_.at(axis); }
  [[nodiscard]] std::int64_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] const float* data() const { return values_.data(); }
  [[nodiscard]] std::span<const float> values() const {
    return {data(), static_cast<std::size_t>(size())};
  }
  [[nodiscard]] std::span<float> values() { return {data(), static_cast<std::size_t>(size())}; }

  /// The whole tensor as a matrix [product of the leading dimensions, last dimension].
  [[nodiscard]] MatrixMap matrix();
  [[nodiscard]] ConstMatrixMap matrix() const;
  /// Slice `index` of the first axis of a rank-3 tensor [A, B, C], as [B, C].
  [[nodiscard]] MatrixMap slice(std::int64_t index);
  [[nodiscard]] ConstMatrixMap slice(std::int64_t index) const;

  /// The same values with another shape of the same element count.
  [[nodiscard]] Tensor reshaped(Shape shape) &&;
  [[nodiscard]] Tensor reshaped(Shape shape) const&;

 private:
  Shape shape_;
  Vector values_;
};

/// A whole matrix as a strided map, for functions that also accept parts of wider ones.
[[nodiscard]] inline ConstStridedMatrixMap strided(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

[[nodiscard]] inline StridedMatrixMap strided_output(Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

}  // namespace attnscope
