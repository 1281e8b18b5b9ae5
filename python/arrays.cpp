#include "python/arrays.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope::python {

py::array array_over(const void* data, const py::dtype& dtype, const Shape& shape,
                     std::shared_ptr<const void> owner) {
  auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
  const py::capsule base(
      kept.get(), [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); });
  (void)kept.release();  // the capsule deletes it
  return py::array(dtype, shape, data, base);
}

py::array view_of(const float* data, const Shape& shape, std::shared_ptr<const void> owner) {
  py::array array = array_over(data, py::dtype::of<float>(), shape, std::move(owner));
  array.attr("flags").attr("writeable") = false;  // traces are shared between threads
  return array;
}

py::object view_of(const Tensor& tensor, std::shared_ptr<const void> owner) {
  if (tensor.empty()) return py::none();
  return view_of(tensor.data(), tensor.shape(), std::move(owner));
}

py::array array_of(Tensor tensor) {
  const auto owner = std::make_shared<Tensor>(std::move(tensor));
  return array_over(owner->data(), py::dtype::of<float>(), owner->shape(), owner);
}

py::array array_of(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array array_of(const MatrixD& matrix) {
  return py::array_t<double>({matrix.rows(), matrix.cols()}, matrix.data());
}

Shape shape_of(const py::array& array) { return {array.shape(), array.shape() + array.ndim()}; }

Tensor tensor_of(const FloatArray& array) {
  Tensor tensor = Tensor::unfilled(shape_of(array));
  std::copy_n(array.data(), array.size(), tensor.data());
  return tensor;
}

py::array array_of(const Image& image) {
  return py::array_t<std::uint8_t>({image.height, image.width, image.channels},
                                   image.pixels.data());
}

Image image_of(const py::array& array) {
  const Shape shape = shape_of(array);
  const bool coloured = shape.size() == 3 && (shape[2] == 1 || shape[2] == 3);
  if (!py::isinstance<py::array_t<std::uint8_t>>(array) || (!coloured && shape.size() != 2) ||
      array.size() == 0) {
    throw Error(ErrorKind::usage, "the image has the wrong shape or element type")
        .about("image")
        .expected("uint8 [height, width] or [height, width, 3]")
        .found(std::string(py::str(array.dtype())) + " " + to_string(shape));
  }
  const py::array_t<std::uint8_t, py::array::c_style> pixels(array);
  return {
      shape[1], shape[0], coloured ? shape[2] : 1, {pixels.data(), pixels.data() + pixels.size()}};
}

py::list texts(const std::vector<std::string>& utf8) {
  py::list list;
  for (const std::string& one : utf8) list.append(text(one));
  return list;
}

}  // namespace attnscope::python
