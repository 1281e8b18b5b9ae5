// What a reading child does with the HDF5 library: files from strangers may crash it or keep it
// busy for ever. Includes the HDF5 library's header: for .cpp files of core only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/hdf5/global_heap.h"
#include "core/checkpoint/hdf5/hdf5_catalogue.h"
#include "core/checkpoint/hdf5/hdf5_library.h"

namespace attnscope {

/// The file whose bytes are `bytes`, which live as long and are not copied. Throws Error(damaged).
[[nodiscard]] Hdf5Id open_hdf5_image(std::span<const std::byte> bytes);

/// All data sets, in the order of their names, each named by its path without a leading slash; soft
/// links inside the file count as names too. Refuses external and user-defined links with
/// Error(unsupported).
[[nodiscard]] std::vector<std::string> hdf5_data_set_names(const Hdf5Id& file);

/// Nothing if its elements are no numbers. Refuses virtual data sets, external storage and unknown
/// filters with Error(unsupported), what claims to be far more than it stores with Error(damaged).
[[nodiscard]] std::optional<Hdf5DataSet> hdf5_data_set(const Hdf5Id& file, const std::string& name);

/// Into as many bytes as `wanted` takes.
void read_hdf5_elements(const Hdf5Id& file, const Hdf5DataSet& wanted,
                        std::span<std::byte> elements);

/// Attributes of the root as text: strings as they are, numbers printed, arrays as "[1, 2]".
/// Attributes of other kinds, and those above 16 MiB, are left out. Throws Error(damaged) for a
/// text that is not where the file says.
[[nodiscard]] std::map<std::string, std::string> hdf5_attributes(const Hdf5Id& file,
                                                                 GlobalHeap& heap);

}  // namespace attnscope
