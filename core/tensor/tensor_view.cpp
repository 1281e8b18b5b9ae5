#include "core/tensor/tensor_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/platform/file_mapping.h"
#include "core/tensor/dtype.h"

namespace attnscope {

static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");

namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t bits;
};

float number(Half half) { return from_half(half.bits); }
float number(BFloat value) { return from_bfloat(value.bits); }
std::uint8_t number(Boolean value) { return value.bits != 0 ? 1 : 0; }
template <class Number>
Number number(Number value) {
  return value;
}

/// Calls `visit` with a null pointer of the element's C++ type.
template <class Visit>
void with_element_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::f64:
      return visit(static_cast<const double*>(nullptr));
    case DType::f32:
      return visit(static_cast<const float*>(nullptr));
    case DType::f16:
      return visit(static_cast<const Half*>(nullptr));
    case DType::bf16:
      return visit(static_cast<const BFloat*>(nullptr));
    case DType::i64:
      return visit(static_cast<const std::int64_t*>(nullptr));
    case DType::i32:
      return visit(static_cast<const std::int32_t*>(nullptr));
    case DType::i16:
      return visit(static_cast<const std::int16_t*>(nullptr));
    case DType::i8:
      return visit(static_cast<const std::int8_t*>(nullptr));
    case DType::u64:
      return visit(static_cast<const std::uint64_t*>(nullptr));
    case DType::u32:
      return visit(static_cast<const std::uint32_t*>(nullptr));
    case DType::u16:
      return visit(static_cast<const std::uint16_t*>(nullptr));
    case DType::u8:
      return visit(static_cast<const std::uint8_t*>(nullptr));
    case DType::boolean:
      return visit(static_cast<const Boolean*>(nullptr));
    case DType::quantised:  // unreachable: callers handle quantised views before
      throw Error(ErrorKind::unsupported, "quantised elements cannot be read one by one");
  }
}

/// Calls `consume(number)` for every element in row-major order. Elements may be unaligned.
template <class Element, class Consume>
void for_each_element(const TensorView& view, Consume&& consume) {
  const std::int64_t count = element_count(view.shape);
  if (count == 0) return;
  const auto load = [&view](std::int64_t index) {
    Element element;
    std::memcpy(&element, view.data + index * static_cast<std::int64_t>(sizeof(Element)),
                sizeof(Element));
    return number(element);
  };
  if (view.is_contiguous()) {
    for (std::int64_t index = 0; index < count; ++index) consume(load(index));
    return;
  }
  // The inner loop runs over the last axis; the other axes count up like an odometer.
  const std::size_t leading = view.shape.size() - 1;
  std::vector<std::int64_t> position(leading, 0);
  std::int64_t start = 0;
  for (std::int64_t row = 0; row < count / view.shape[leading]; ++row) {
    for (std::int64_t column = 0; column < view.shape[leading]; ++column) {
      consume(load(start + column * view.strides[leading]));
    }
    for (std::size_t axis = leading; axis-- > 0;) {
      start += view.strides[axis];
      if (++position[axis] < view.shape[axis]) break;
      start -= position[axis] * view.strides[axis];
      position[axis] = 0;
    }
  }
}

void copy_as_float(const TensorView& view, float* out) {
  with_element_type(view.dtype, [&]<class Element>(const Element*) {
    for_each_element<Element>(view, [&](auto value) { *out++ = static_cast<float>(value); });
  });
}

/// Offset of row `row` of the view as a matrix, in elements from its first.
std::int64_t row_start(const TensorView& view, std::int64_t row) {
  std::int64_t start = 0;
  for (std::size_t axis = view.shape.size() - 1; axis-- > 0;) {
    start += row % view.shape[axis] * view.strides[axis];
    row /= view.shape[axis];
  }
  return start;
}

/// Multiplies the decoded rows `begin` to `end` (exclusive) of `width` elements with their factors.
void apply_factors(const StoredFactors& factors, std::int64_t begin, std::int64_t end,
                   std::int64_t width, float* out) {
  const std::int64_t first = begin / factors.rows, tiles = factors.values.columns();
  const std::int64_t rows = (end - 1) / factors.rows + 1 - first;
  std::vector<float> of_tiles(static_cast<std::size_t>(rows * tiles));
  factors.values.rows_to_float(first, first + rows, of_tiles.data());
  for (std::int64_t row = begin; row < end; ++row, out += width) {
    const float* const own = of_tiles.data() + (row / factors.rows - first) * tiles;
    for (std::int64_t column = 0; column < width; ++column) {
      out[column] *= own[column / factors.columns];
    }
  }
}

/// Calls `consume(values)` with the decoded elements, some rows at a time.
template <class Consume>
void for_each_decoded(const TensorView& view, Consume&& consume) {
  const std::int64_t width = view.columns(), rows = view.rows();
  const std::int64_t step = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, width));
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; row += step) {
    const std::int64_t end = std::min(row + step, rows);
    values.resize(static_cast<std::size_t>((end - row) * width));
    view.rows_to_float(row, end, values.data());
    for (const float value : values) consume(value);
  }
}

}  // namespace

std::vector<std::int64_t> TensorView::contiguous_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  if (element_count(shape) == 0) return strides;
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strides;
}

bool TensorView::is_contiguous() const {
  if (element_count(shape) == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    // The stride of an axis of length 1 is never used, and PyTorch may write any number there.
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

std::int64_t TensorView::rows() const {
  const std::int64_t width = columns();
  return width == 0 ? 0 : element_count(shape) / width;
}

Tensor TensorView::to_float() const {
  Tensor tensor = Tensor::unfilled(shape);
  rows_to_float(0, rows(), tensor.data());
  return tensor;
}

void TensorView::rows_to_float(std::int64_t begin, std::int64_t end, float* out) const {
  const std::int64_t width = columns(), count = (end - begin) * width;
  if (count <= 0) return;
  if (dtype == DType::quantised) {
    dequantise(*blocks, data + begin * width / blocks->elements * blocks->bytes,
               count / blocks->elements, out);
    if (factors) apply_factors(*factors, begin, end, width, out);
  } else if (dtype == DType::f32 && is_contiguous()) {
    std::memcpy(out, data + begin * width * 4, static_cast<std::size_t>(count) * 4);
  } else {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    if (is_contiguous()) {
      copy_as_float({dtype, {count}, {1}, data + begin * width * size, {}}, out);
    } else {
      for (std::int64_t row = begin; row < end; ++row, out += width) {
        copy_as_float({dtype, {width}, {strides.back()}, data + row_start(*this, row) * size, {}},
                      out);
      }
    }
  }
  check_unchanged(data);
}

std::vector<double> TensorView::to_double() const {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(element_count(shape)));
  if (dtype == DType::quantised) {
    for_each_decoded(*this, [&](float value) { values.push_back(value); });
    return values;
  }
  with_element_type(dtype, [&]<class Element>(const Element*) {
    for_each_element<Element>(*this,
                              [&](auto value) { values.push_back(static_cast<double>(value)); });
  });
  check_unchanged(data);
  return values;
}

std::vector<std::int64_t> TensorView::to_int64() const {
  if (is_floating(dtype) || dtype == DType::quantised) {
    throw Error(ErrorKind::unsupported, "the tensor's elements are not integers")
        .found(std::string(name_of(dtype)));
  }
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(element_count(shape)));
  with_element_type(dtype, [&]<class Element>(const Element*) {
    for_each_element<Element>(
        *this, [&](auto value) { values.push_back(static_cast<std::int64_t>(value)); });
  });
  check_unchanged(data);
  return values;
}

TensorView::NonFinite TensorView::count_non_finite() const {
  NonFinite count;
  const auto look_at = [&](auto value) {
    const auto real = static_cast<double>(value);
    count.nan += std::isnan(real) ? 1 : 0;
    count.infinite += std::isinf(real) ? 1 : 0;
  };
  if (dtype == DType::quantised) for_each_decoded(*this, look_at);
  if (!is_floating(dtype)) return count;
  with_element_type(
      dtype, [&]<class Element>(const Element*) { for_each_element<Element>(*this, look_at); });
  check_unchanged(data);
  return count;
}

void release_pages(const TensorView& view) {
  const std::int64_t count = element_count(view.shape);
  if (count == 0) return;
  std::int64_t bytes = 0;  // from the first element to the last
  if (view.dtype == DType::quantised) {
    bytes = count / view.blocks->elements * view.blocks->bytes;
  } else {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
      last += (view.shape[axis] - 1) * view.strides[axis];
    }
    bytes = (last + 1) * static_cast<std::int64_t>(size_of(view.dtype));
  }
  release_pages_of_file({view.data, static_cast<std::size_t>(bytes)});
}

}  // namespace attnscope
