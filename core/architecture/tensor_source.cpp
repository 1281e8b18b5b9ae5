#include "core/architecture/tensor_source.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

Error misfit(const std::string& what, const StoredTensor& stored, std::string expected) {
  return Error(ErrorKind::damaged, what)
      .about(stored.name)
      .expected(std::move(expected))
      .found(to_string(stored.shape));
}

/// Without the axes of extent 1 that a matrix may have beside its two.
Shape as_matrix(Shape shape) {
  for (auto one = shape.begin(); shape.size() > 2 && one != shape.end();) {
    one = *one == 1 ? shape.erase(one) : one + 1;
  }
  return shape;
}

/// The stored shape, without the first axis where only a slice of it is taken.
Shape sliced_shape(const StoredTensor& stored, const TensorSource& source) {
  Shape shape = stored.shape;
  if (!source.slice) return shape;
  if (shape.empty() || *source.slice >= shape.front()) {
    throw misfit("the stacked tensor has not so many layers", stored,
                 "more than " + std::to_string(*source.slice) + " along its first axis");
  }
  shape.erase(shape.begin());
  return shape;
}

/// Every axis of `shape` once, as the source orders them.
std::vector<std::int64_t> order_of_axes(const StoredTensor& stored, const Shape& shape,
                                        const TensorSource& source) {
  std::vector<std::int64_t> order, counted;
  for (const auto& group : source.axes) order.insert(order.end(), group.begin(), group.end());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    counted.push_back(static_cast<std::int64_t>(axis));
  }
  if (!std::is_permutation(order.begin(), order.end(), counted.begin(), counted.end())) {
    throw misfit("the axes of the description are not those of the tensor", stored,
                 std::to_string(order.size()) + " axes");
  }
  return order;
}

Shape piece_shape(const Checkpoint& checkpoint, const TensorSource& source,
                  const std::string& name) {
  const StoredTensor& stored = checkpoint.at(name);
  Shape shape = sliced_shape(stored, source);
  if (!source.axes.empty()) {
    (void)order_of_axes(stored, shape, source);
    Shape merged;
    for (const auto& group : source.axes) {
      std::int64_t extent = 1;
      for (const std::int64_t axis : group) extent *= shape[static_cast<std::size_t>(axis)];
      merged.push_back(extent);
    }
    shape = std::move(merged);
  }
  if (!source.transposed) return shape;
  shape = as_matrix(std::move(shape));
  if (shape.size() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

/// Axis i of the result is axis order[i] of `values`, whose shape is `shape`.
Tensor permuted(const Tensor& values, const Shape& shape, const std::vector<std::int64_t>& order) {
  Shape result_shape, steps(shape.size(), 1);
  for (std::size_t axis = shape.size() - 1; axis > 0; --axis) {
    steps[axis - 1] = steps[axis] * shape[axis];
  }
  for (const std::int64_t axis : order) {
    result_shape.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  Tensor result(result_shape);
  Shape place(order.size(), 0);
  std::int64_t from = 0;
  for (float& value : result.values()) {
    value = values.data()[from];
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::int64_t step = steps[static_cast<std::size_t>(order[i])];
      from += step;
      if (++place[i] < result_shape[i]) break;
      from -= step * result_shape[i];
      place[i] = 0;
    }
  }
  return result;
}

/// One of the tensors of `shape` that are stacked along the first axis, without a look at the
/// others.
Tensor slice_of(const StoredTensor& stored, const Shape& shape, std::int64_t slice) {
  const TensorView view = stored.view();
  if (shape.empty()) return Tensor(shape, {view.to_float().data()[slice]});
  Tensor values(shape);
  const std::int64_t rows = view.rows() / stored.shape.front();
  if (values.size() > 0) view.rows_to_float(slice * rows, (slice + 1) * rows, values.data());
  return values;
}

Tensor piece(const Checkpoint& checkpoint, const TensorSource& source, const std::string& name) {
  const StoredTensor& stored = checkpoint.at(name);
  const Shape shape = sliced_shape(stored, source), used = piece_shape(checkpoint, source, name);
  Tensor values = source.slice ? slice_of(stored, shape, *source.slice) : stored.view().to_float();
  if (!source.axes.empty() && values.size() > 0) {
    values = permuted(values, shape, order_of_axes(stored, shape, source));
  }
  if (!source.transposed || used.size() != 2) return std::move(values).reshaped(used);
  const Tensor stored_matrix = std::move(values).reshaped({used[1], used[0]});
  Tensor turned(used);
  turned.matrix() = stored_matrix.matrix().transpose();
  return turned;
}

}  // namespace

Shape used_shape(const Checkpoint& checkpoint, const TensorSource& source) {
  Shape shape = piece_shape(checkpoint, source, source.tensor);
  for (const std::string& name : source.pieces) {
    const Shape further = piece_shape(checkpoint, source, name);
    const bool fits = !shape.empty() && further.size() == shape.size() &&
                      std::equal(shape.begin() + 1, shape.end(), further.begin() + 1);
    if (!fits) {
      throw misfit("the pieces of a weight differ in shape", checkpoint.at(name),
                   to_string(checkpoint.at(source.tensor).shape));
    }
    shape.front() += further.front();
  }
  return shape;
}

std::int64_t stored_heads(const Checkpoint& checkpoint, const TensorSource& source) {
  if (!source.pieces.empty()) return std::ssize(source.pieces) + 1;
  if (source.axes.empty() || source.axes.front().size() < 2) return 0;
  const StoredTensor& stored = checkpoint.at(source.tensor);
  const Shape shape = sliced_shape(stored, source);
  (void)order_of_axes(stored, shape, source);
  return shape[static_cast<std::size_t>(source.axes.front().front())];
}

Tensor used_tensor(const Checkpoint& checkpoint, const TensorSource& source) {
  const Shape shape = used_shape(checkpoint, source);
  Tensor first = piece(checkpoint, source, source.tensor);
  if (source.pieces.empty()) return first;
  Tensor whole(shape);
  auto out = std::ranges::copy(first.values(), whole.values().begin()).out;
  for (const std::string& name : source.pieces) {
    const Tensor further = piece(checkpoint, source, name);
    out = std::ranges::copy(further.values(), out).out;
  }
  return whole;
}

}  // namespace attnscope
