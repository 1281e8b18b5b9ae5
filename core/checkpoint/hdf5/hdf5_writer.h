// An HDF5 file made in memory: small results as arrays with attributes, the same bytes each time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

/// Objects are named by their path, "/panel_00/x"; groups on the way are created. Every member
/// throws Error(io) if the library refuses: a name used twice, extents that do not fit the values.
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
  /// UTF-8.
  void data(const std::string& path, const Shape& shape, const std::vector<std::string>& texts);

  /// Of the object at `path`; "/" is the file's root.
  void attribute(const std::string& path, const std::string& name, const std::string& text);
  void attribute(const std::string& path, const std::string& name, const char* text) {
    attribute(path, name, std::string(text));
  }
  void attribute(const std::string& path, const std::string& name, double value);
  void attribute(const std::string& path, const std::string& name, std::int64_t value);
  void attribute(const std::string& path, const std::string& name,
                 const std::vector<std::string>& texts);

  /// The file so far.
  [[nodiscard]] std::string bytes() const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace attnscope
