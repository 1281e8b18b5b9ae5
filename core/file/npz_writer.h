// Writer of NumPy's .npz files in memory: named arrays. Equal arrays give equal bytes.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

/// A zip archive of .npy arrays (version 1.0 of the format, C order, little-endian), stored without
/// compression so that numpy.load(…, mmap_mode) and this program can map them. `add` throws
/// Error(usage) for a duplicate name or values that do not fit their shape, `bytes` Error(io) if
/// the archive would exceed 4 GB.
///
///     NpzWriter file;
///     file.add("map", {2, 3}, std::span<const float>(values));
///     write_file("map.npz", file.bytes());
class NpzWriter {
 public:
  void add(const std::string& name, const Shape& shape, std::span<const float> values);
  void add(const std::string& name, const Shape& shape, std::span<const double> values);
  void add(const std::string& name, const Shape& shape, std::span<const std::uint8_t> values);
  void add(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
  /// Adds UTF-8 texts as an array of Unicode texts (dtype U), without pickle.
  void add(const std::string& name, const Shape& shape, const std::vector<std::string>& texts);

  /// The bytes of the file as written so far.
  [[nodiscard]] std::string bytes() const;

 private:
  void add_array(const std::string& name, const std::string& type, const Shape& shape,
                 std::size_t count, const void* values, std::size_t size);

  std::set<std::string> names_;
  std::string entries_, directory_;
};

}  // namespace attnscope
