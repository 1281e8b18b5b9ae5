#include "core/tensor/tensor.h"

#include <cassert>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// Rows and columns of `shape` as a matrix: product of the leading dimensions, and the last.
std::pair<std::int64_t, std::int64_t> rows_and_columns(const Shape& shape, std::int64_t size) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  return {columns == 0 ? 0 : size / columns, columns};
}

void check_fits(const Shape& shape, std::int64_t size) {
  if (element_count(shape) == size) return;
  throw Error(ErrorKind::damaged, "a tensor's shape does not fit its values")
      .expected(to_string(shape))
      .found(std::to_string(size) + " values");
}

}  // namespace

Tensor::Tensor(Shape shape) : Tensor(unfilled(std::move(shape))) { values_.setZero(); }

Tensor::Tensor(Shape shape, const std::vector<float>& values) : shape_(std::move(shape)) {
  check_fits(shape_, std::ssize(values));
  values_ = Eigen::Map<const Vector>(values.data(), std::ssize(values));
}

Tensor Tensor::unfilled(Shape shape) {
  Tensor tensor;
  tensor.values_.resize(element_count(shape));
  tensor.shape_ = std::move(shape);
  return tensor;
}

MatrixMap Tensor::matrix() {
  const auto [rows, columns] = rows_and_columns(shape_, size());
  return {data(), rows, columns};
}

ConstMatrixMap Tensor::matrix() const {
  const auto [rows, columns] = rows_and_columns(shape_, size());
  return {data(), rows, columns};
}

MatrixMap Tensor::slice(std::int64_t index) {
  assert(rank() == 3 && index >= 0 && index < shape_[0]);
  return {data() + index * shape_[1] * shape_[2], shape_[1], shape_[2]};
}

ConstMatrixMap Tensor::slice(std::int64_t index) const {
  assert(rank() == 3 && index >= 0 && index < shape_[0]);
  return {data() + index * shape_[1] * shape_[2], shape_[1], shape_[2]};
}

Tensor Tensor::reshaped(Shape shape) && {
  check_fits(shape, size());
  shape_ = std::move(shape);
  return std::move(*this);
}

Tensor Tensor::reshaped(Shape shape) const& { return Tensor(*this).reshaped(std::move(shape)); }

}  // namespace attnscope
