// HDF5 files from strangers, read so that nothing outside the file is reached, nothing is executed,
// and nothing in the file can crash or hang the program: the HDF5 library works in a child process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct Hdf5File {
  /// The attributes of the root as text, and the names of the data sets that are not numeric.
  std::map<std::string, std::string> metadata;
  /// The numeric data sets in the order of their names, each named by its path without a leading
  /// slash; soft links inside the file count as names too. Uncompressed little-endian ones are
  /// mapped, others are unpacked when viewed.
  std::vector<StoredTensor> tensors;
};

/// Throws Error(io), Error(not_this_format) without HDF5's signature, Error(damaged), and
/// Error(unsupported) for external and user-defined links, virtual data sets, external storage and
/// filters that are not built in.
[[nodiscard]] Hdf5File read_hdf5(const std::filesystem::path& path);
/// The same of an HDF5 file that lies inside another, `path`: its bytes, which `storage` keeps
/// alive.
[[nodiscard]] Hdf5File read_hdf5(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> storage,
                                 const std::filesystem::path& path);

/// Whether the file has an object of that path, "layer_00/implied_map", without a look at what else
/// it has. Throws like read_hdf5.
[[nodiscard]] bool hdf5_has(const std::filesystem::path& path, const std::string& object);

}  // namespace attnscope
