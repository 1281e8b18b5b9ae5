// NumPy arrays and the program's tensors.
#pragma once

#include <memory>
#include <pybind11/numpy.h>
#include <string>
#include <vector>

#include "core/input/image.h"
#include "core/tensor/tensor.h"
#include "python/bindings.h"

namespace attnscope::python {

/// float32 numbers in row-major order; other arrays are converted, contiguous ones are not copied.
using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;

/// An array that shows `data` without a copy and keeps `owner` alive.
[[nodiscard]] py::array array_over(const void* data, const py::dtype& dtype, const Shape& shape,
                                   std::shared_ptr<const void> owner);
/// A read-only array that shows the memory of `owner` without a copy and keeps it alive.
[[nodiscard]] py::array view_of(const float* data, const Shape& shape,
                                std::shared_ptr<const void> owner);
/// The view of a tensor that `owner` holds; None if the tensor is empty, for what was not recorded.
[[nodiscard]] py::object view_of(const Tensor& tensor, std::shared_ptr<const void> owner);
/// An array of a tensor's values, which it takes over without a copy.
[[nodiscard]] py::array array_of(Tensor tensor);
/// float64 [n].
[[nodiscard]] py::array array_of(const std::vector<double>& values);
/// float64 [rows, columns].
[[nodiscard]] py::array array_of(const MatrixD& matrix);

[[nodiscard]] Shape shape_of(const py::array& array);
/// A copy of the values as float32.
[[nodiscard]] Tensor tensor_of(const FloatArray& array);

/// uint8 [height, width, channels].
[[nodiscard]] py::array array_of(const Image& image);
/// An image of uint8 [height, width] or [height, width, 1 or 3]. Throws Error(usage).
[[nodiscard]] Image image_of(const py::array& array);

[[nodiscard]] py::list texts(const std::vector<std::string>& utf8);

}  // namespace attnscope::python
