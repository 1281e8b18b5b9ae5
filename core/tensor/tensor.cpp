#include "core/tensor/tensor.h"

#include <cassert>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// Rows and columns of `shape` seen as a matrix: all leading axes × the last.
std::pair<std::int64_t, std::int64_t> as_matrix(const Shape& shape, std::int64_t size) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  return {columns == 0 ? 0 : size / columns, columns};
}

}  // namespace

Tensor::Tensor(Shape shape)
    : shape_(std::move(shape)), values_(static_cast<std::size_t>(element_count(shape_))) {}

Tensor::Tensor(Shape shape, std::vector<float> values)
    : shape_(std::move(shape)), values_(std::move(values)) {
  if (element_count(shape_) != size()) {
    throw Error(ErrorKind::damaged, "a tensor's shape does not fit its values")
        .expected(to_string(shape_))
        .found(std::to_string(size()) + " values");
  }
}

MatrixMap Tensor::matrix() {
  const auto [rows, columns] = as_matrix(shape_, size());
  return {data(), rows, columns};
}

ConstMatrixMap Tensor::matrix() const {
  const auto [rows, columns] = as_matrix(shape_, size());
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

Tensor Tensor::reshaped(Shape shape) && { return {std::move(shape), std::move(values_)}; }

Tensor Tensor::reshaped(Shape shape) const& { return {std::move(shape), values_}; }

}  // namespace attnscope
