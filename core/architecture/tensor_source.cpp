#include "core/architecture/tensor_source.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

namespace {

Error misfit(const std::string& what, const StoredTensor& stored, std::string expected) {
  return Error(ErrorKind::damaged, what)
      .about(stored.name)
      .expected(std::move(expected))
      .found(to_string(stored.shape));
}

/// Shape without the axes of length 1 that a matrix may have in addition to its two.
Shape as_matrix(Shape shape) {
  for (auto one = shape.begin(); shape.size() > 2 && one != shape.end();) {
    one = *one == 1 ? shape.erase(one) : one + 1;
  }
  return shape;
}

/// Stored shape, without the first axis if only a slice of it is taken.
Shape sliced_shape(const StoredTensor& stored, const TensorSource& source) {
  Shape shape = stored.shape;
  if (!source.slice) return shape;
  if (shape.empty() || *source.slice >= shape.front()) {
    throw misfit("the stacked tensor has too few layers", stored,
                 "more than " + std::to_string(*source.slice) + " along its first axis");
  }
  shape.erase(shape.begin());
  return shape;
}

/// Shape that the stored values are read as; a dimension of −1 is inferred.
Shape read_shape(const StoredTensor& stored, Shape shape, const TensorSource& source) {
  if (source.shape.empty()) return shape;
  const std::int64_t all = element_count(shape);
  std::int64_t known = 1;
  for (const std::int64_t extent : source.shape) {
    if (extent > 0 && known <= all) known *= extent;
  }
  shape = source.shape;
  const auto open = std::ranges::find(shape, std::int64_t{-1});
  if (open != shape.end() && known > 0 && all % known == 0) *open = all / known;
  if (std::ranges::find(shape, std::int64_t{-1}) != shape.end() || element_count(shape) != all) {
    throw misfit("the tensor cannot be read as the shape of the description", stored,
                 "as many numbers as " + to_string(source.shape));
  }
  return shape;
}

/// Rows that a source takes out of `all`.
RowRange rows_taken(const StoredTensor& stored, std::int64_t all, const TensorSource& source) {
  if (!source.rows) return {0, all, 0};
  RowRange rows = *source.rows;
  const bool splits = rows.of > 0 && all % rows.of == 0;
  if (splits) rows = {rows.first * (all / rows.of), rows.count * (all / rows.of), 0};
  if (rows.of > 0 || rows.first + rows.count > all) {
    throw misfit("the rows of the description do not fit the number of rows of the tensor, " +
                     std::to_string(all),
                 stored,
                 rows.of > 0 ? "a multiple of " + std::to_string(rows.of) + " rows"
                             : "at least " + std::to_string(rows.first + rows.count) + " rows");
  }
  return rows;
}

/// Axes of `shape` in the source's order. Throws unless each occurs exactly once.
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

/// Shape of a stored tensor with all its rows.
Shape whole_shape(const StoredTensor& stored, const TensorSource& source) {
  Shape shape = read_shape(stored, sliced_shape(stored, source), source);
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

Shape piece_shape(const StoredTensor& stored, const TensorSource& source) {
  Shape shape = whole_shape(stored, source);
  if (!source.rows) return shape;
  if (shape.empty()) throw misfit("a single number has no rows", stored, "a vector or a matrix");
  shape.front() = rows_taken(stored, shape.front(), source).count;
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

/// One of the tensors of `shape` that are stacked along the first axis. The others are not read.
Tensor slice_of(const TensorView& view, const Shape& shape, std::int64_t slice) {
  if (shape.empty()) return Tensor(shape, {view.to_float().data()[slice]});
  Tensor values(shape);
  const std::int64_t rows = view.rows() / view.shape.front();
  if (values.size() > 0) view.rows_to_float(slice * rows, (slice + 1) * rows, values.data());
  return values;
}

/// Stored tensor with all its rows.
Tensor with_all_rows(const StoredTensor& stored, const TensorSource& source) {
  const Shape sliced = sliced_shape(stored, source), used = whole_shape(stored, source);
  const Shape shape = read_shape(stored, sliced, source);
  const TensorView view = stored.view();
  Tensor values = source.slice ? slice_of(view, sliced, *source.slice) : view.to_float();
  release_pages(view);
  if (!source.axes.empty() && values.size() > 0) {
    values = permuted(values, shape, order_of_axes(stored, shape, source));
  }
  if (!source.transposed || used.size() != 2) return std::move(values).reshaped(used);
  const Tensor stored_matrix = std::move(values).reshaped({used[1], used[0]});
  Tensor turned(used);
  turned.matrix() = stored_matrix.matrix().transpose();
  return turned;
}

Tensor piece(const StoredTensor& stored, const TensorSource& source) {
  const Shape used = piece_shape(stored, source);
  Tensor all = with_all_rows(stored, source);
  if (!source.rows || all.size() == 0) return all;
  const std::int64_t each = all.size() / all.extent(0);
  const std::int64_t first = rows_taken(stored, all.extent(0), source).first * each;
  const auto begin = all.values().begin() + first;
  return {used, std::vector<float>(begin, begin + element_count(used))};
}

}  // namespace

Shape used_shape(const Checkpoint& checkpoint, const TensorSource& source) {
  Shape shape = piece_shape(checkpoint.at(source.tensor), source);
  for (const std::string& name : source.pieces) {
    const Shape further = piece_shape(checkpoint.at(name), source);
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

std::int64_t stored_parts(const Checkpoint& checkpoint, const TensorSource& source) {
  if (source.counted) return std::ssize(source.pieces) + 1;
  // Joined or cut tensors do not have one row block per head.
  if (!source.pieces.empty() || source.rows || source.axes.empty()) return 0;
  if (source.axes.front().size() != 2) return 0;
  const StoredTensor& stored = checkpoint.at(source.tensor);
  const Shape shape = read_shape(stored, sliced_shape(stored, source), source);
  (void)order_of_axes(stored, shape, source);
  return shape[static_cast<std::size_t>(source.axes.front().front())];
}

RowRange used_rows(const Checkpoint& checkpoint, const TensorSource& source) {
  const StoredTensor& stored = checkpoint.at(source.tensor);
  const Shape shape = whole_shape(stored, source);
  const std::int64_t all = shape.empty() ? 1 : shape.front();
  RowRange rows = rows_taken(stored, all, source);
  rows.of = all;
  return rows;
}

Tensor used_tensor(const Checkpoint& checkpoint, const TensorSource& source) {
  const Shape shape = used_shape(checkpoint, source);
  Tensor first = piece(checkpoint.at(source.tensor), source);
  if (source.pieces.empty()) return first;
  Tensor whole(shape);
  auto out = std::ranges::copy(first.values(), whole.values().begin()).out;
  for (const std::string& name : source.pieces) {
    const Tensor further = piece(checkpoint.at(name), source);
    out = std::ranges::copy(further.values(), out).out;
  }
  return whole;
}

}  // namespace attnscope
