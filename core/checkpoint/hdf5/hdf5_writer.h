// Writer of small HDF5 files in memory: arrays with attributes. Equal contents give equal bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

/// Builds an HDF5 file. Objects are named by paths such as "/panel_00/x"; missing groups are
/// created. Every member throws Error(io) if the library refuses, for example a duplicate name or a
/// shape that does not fit the values.
class Hdf5Writer {
 public:
  Hdf5Writer();
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void group(const std::string& path);
  void data(const std::string& path, const Shape& shape, std::span<const float> values);
  void data(const std::string& path, const Shape& shape, std::span<const double> values);
  void data(const std::string& path, const Shape& shape, std::span<const std::uint8_t> values);
  void data(const std::string& path, const Shape& shape, std::span<const std::int64_t> values);
  /// Writes texts in UTF-8.
  void data(const std::string& path, const Shape& shape, const std::vector<std::string>& texts);

  /// Adds an attribute to the object at `path`; "/" is the root group.
  void attribute(const std::string& path, const std::string& name, const std::string& text);
  void attribute(const std::string& path, const std::string& name, const char* text) {
    attribute(path, name, std::string(text));
  }
  void attribute(const std::string& path, const std::string& name, double value);
  void attribute(const std::string& path, const std::string& name, std::int64_t value);
  void attribute(const std::string& path, const std::string& name,
                 const std::vector<std::string>& texts);

  /// The bytes of the file as written so far.
  [[nodiscard]] std::string bytes() const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace attnscope
