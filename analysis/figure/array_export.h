// Writes a figure as arrays with attributes, for all file formats that hold arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/tensor/shape.h"

namespace attnscope {

/// A file of arrays, named by paths such as "panel_00/mark_00/x".
class ArrayFile {
 public:
  ArrayFile() = default;
  virtual ~ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  virtual void array(const std::string& path, const Shape& shape,
                     std::span<const double> values) = 0;
  virtual void array(const std::string& path, const Shape& shape,
                     std::span<const float> values) = 0;
  virtual void array(const std::string& path, const Shape& shape,
                     std::span<const std::uint8_t> values) = 0;
  virtual void array(const std::string& path, const Shape& shape,
                     const std::vector<std::string>& texts) = 0;
  /// Adds a text attribute to the group or array at `path`; "" is the file.
  virtual void text(const std::string& path, const std::string& name, const std::string& value) = 0;
  virtual void number(const std::string& path, const std::string& name, std::int64_t value) = 0;

  /// Marks the group's array `signal`, and `others` of its shape, as plottable over its arrays
  /// `axes`, one per dimension. `names` are the labels of the signal and then of the axes.
  virtual void plot(const std::string& group, const std::string& signal,
                    const std::vector<std::string>& others, const std::vector<std::string>& axes,
                    const std::vector<std::string>& names) = 0;
};

/// Writes the figure in the layout that figure_as_hdf5 describes.
void write_arrays(const Figure& figure, ArrayFile& file);

}  // namespace attnscope
