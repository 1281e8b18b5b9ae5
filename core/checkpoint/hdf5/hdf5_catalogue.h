// Contents of an HDF5 file, as reported by a reading child.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace attnscope {

struct Hdf5DataSet {
  std::string name;  ///< path without a leading slash
  DType dtype = DType::f32;
  Shape shape;
  /// File offset of the elements if they are contiguous and little-endian. If empty, the elements
  /// must be unpacked or converted.
  std::optional<std::uint64_t> offset;
};

struct Hdf5Catalogue {
  std::map<std::string, std::string> attributes;  ///< attributes of the root group
  std::vector<Hdf5DataSet> data_sets;
  std::vector<std::string> not_numeric;  ///< names of the data sets that are left out

  [[nodiscard]] std::string to_bytes() const;
  /// Inverse of to_bytes. Throws Error(damaged) for other bytes.
  [[nodiscard]] static Hdf5Catalogue from_bytes(std::string_view bytes);
};

}  // namespace attnscope
