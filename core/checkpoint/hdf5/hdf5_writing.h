// Functions that write HDF5, used for trace files, files of learned tensors and Hdf5Writer. No
// timestamps are stored: equal contents give equal bytes. Includes the HDF5 library's header; only
// for .cpp files of core.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// All functions throw Error(io) if the library cannot write. Names may be paths such as
// "panel_00/x"; missing groups are created.

/// Writes a new file with `contents`, which is given the root group. Replaces an existing file at
/// `path` only after the new one is complete.
void write_hdf5_file(const std::filesystem::path& path,
                     const std::function<void(const Hdf5Id& root)>& contents);

Hdf5Id create_group(const Hdf5Id& parent, const std::string& name);

/// A contiguous data set of `stored_type` from values of `memory_type`.
void write_data(const Hdf5Id& parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values);
/// Writes a tensor as little-endian float32; does nothing for an empty tensor.
void write_tensor(const Hdf5Id& parent, const std::string& name, const Tensor& tensor);

/// The type of variable-length UTF-8 texts, in the file and in memory (const char*).
[[nodiscard]] Hdf5Id text_type();

void write_attribute(const Hdf5Id& object, const std::string& name, const std::string& text);
void write_attribute(const Hdf5Id& object, const std::string& name, std::int64_t value);
void write_attribute(const Hdf5Id& object, const std::string& name, double value);
/// Writes a list of at least one text.
void write_attribute(const Hdf5Id& object, const std::string& name,
                     const std::vector<std::string>& texts);

}  // namespace attnscope
