// Writing HDF5: what trace files, files of learnt tensors and Hdf5Writer are made with. Nothing
// says when: the same numbers are the same bytes. Includes the HDF5 library's header: for .cpp
// files of core only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// All throw Error(io) when the library cannot write. Names may be paths, "panel_00/x": groups on
// the way are created.

/// Writes a new file by `contents`, which gets its root group, and puts it in place of what is at
/// `path` only when it is whole.
void write_hdf5_file(const std::filesystem::path& path,
                     const std::function<void(const Hdf5Id& root)>& contents);

Hdf5Id create_group(const Hdf5Id& parent, const std::string& name);

/// A contiguous data set of `stored_type` from values of `memory_type`.
void write_data(const Hdf5Id& parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values);
/// As little-endian float32; nothing for an empty tensor.
void write_tensor(const Hdf5Id& parent, const std::string& name, const Tensor& tensor);

/// Of texts of any length in UTF-8, in the file and in memory (const char*).
[[nodiscard]] Hdf5Id text_type();

void write_attribute(const Hdf5Id& object, const std::string& name, const std::string& text);
void write_attribute(const Hdf5Id& object, const std::string& name, std::int64_t value);
void write_attribute(const Hdf5Id& object, const std::string& name, double value);
/// A list of texts, one at least.
void write_attribute(const Hdf5Id& object, const std::string& name,
                     const std::vector<std::string>& texts);

}  // namespace attnscope
