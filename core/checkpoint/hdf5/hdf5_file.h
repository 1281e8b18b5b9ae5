// Reader of untrusted HDF5 files. The HDF5 library runs in a child process, so a file cannot reach
// other files, execute code, or crash or hang the program.
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
  /// Attributes of the root group as text, and the names of the data sets that are not numeric.
  std::map<std::string, std::string> metadata;
  /// Numeric data sets, each named by its path without a leading slash, sorted by name. Soft links
  /// inside the file count as names too. Uncompressed little-endian data sets are mapped, others
  /// are unpacked when viewed.
  std::vector<StoredTensor> tensors;
};

/// Reads an HDF5 file. Throws Error(io), Error(not_this_format) without HDF5's signature,
/// Error(damaged), and Error(unsupported) for external and user-defined links, virtual data sets,
/// external storage and filters that are not built in.
[[nodiscard]] Hdf5File read_hdf5(const std::filesystem::path& path);
/// Reads an HDF5 file inside another file, `path`. `storage` keeps `bytes` alive.
[[nodiscard]] Hdf5File read_hdf5(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> storage,
                                 const std::filesystem::path& path);

/// True if the file has an object with the path `object` ("layer_00/implied_map"). Does not list
/// the file. Throws like read_hdf5.
[[nodiscard]] bool hdf5_has(const std::filesystem::path& path, const std::string& object);

}  // namespace attnscope
