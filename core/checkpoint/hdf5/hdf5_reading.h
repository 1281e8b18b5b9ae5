// Library calls of a reading child. Untrusted files may crash or hang the library, so they never
// run in the program itself. Includes the HDF5 library's header; only for .cpp files of core.
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

/// Opens a file from its bytes, which are not copied and must outlive the result. Throws
/// Error(damaged).
[[nodiscard]] Hdf5Id open_hdf5_image(std::span<const std::byte> bytes);

/// Names of all data sets, sorted: paths without a leading slash. Soft links inside the file count
/// as names too. Refuses external and user-defined links with Error(unsupported).
[[nodiscard]] std::vector<std::string> hdf5_data_set_names(const Hdf5Id& file);

/// Describes a data set; nullopt if its elements are not numeric. Refuses virtual data sets,
/// external storage and unknown filters with Error(unsupported), and data sets that claim far more
/// than they store with Error(damaged).
[[nodiscard]] std::optional<Hdf5DataSet> hdf5_data_set(const Hdf5Id& file, const std::string& name);

/// Reads the elements of `wanted` into `elements`, which has exactly the required size.
void read_hdf5_elements(const Hdf5Id& file, const Hdf5DataSet& wanted,
                        std::span<std::byte> elements);

/// Attributes of the root group as text: strings unchanged, numbers printed, arrays as "[1, 2]".
/// Attributes of other types, and those above 16 MiB, are left out. Throws Error(damaged) for an
/// invalid reference to a text.
[[nodiscard]] std::map<std::string, std::string> hdf5_attributes(const Hdf5Id& file,
                                                                 GlobalHeap& heap);

}  // namespace attnscope
