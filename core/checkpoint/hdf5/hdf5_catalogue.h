// What an HDF5 file holds, as a reading child tells it.
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
  std::string name;  ///< its path without a leading slash
  DType dtype = DType::f32;
  Shape shape;
  /// Of the elements in the file where they lie there as they are: contiguous, little-endian.
  /// Without, they are to be unpacked or converted.
  std::optional<std::uint64_t> offset;
};

struct Hdf5Catalogue {
  std::map<std::string, std::string> attributes;  ///< of the root
  std::vector<Hdf5DataSet> data_sets;
  std::vector<std::string> not_numeric;  ///< names of the data sets left out

  [[nodiscard]] std::string to_bytes() const;
  /// Throws Error(damaged) for bytes that `to_bytes` does not make.
  [[nodiscard]] static Hdf5Catalogue from_bytes(std::string_view bytes);
};

}  // namespace attnscope
