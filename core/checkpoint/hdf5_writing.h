// Writing HDF5: what trace files and files of learnt tensors are made with.
// Includes the HDF5 library's header: for .cpp files of core only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/checkpoint/hdf5_file.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// All throw Error(io) when the library cannot write.

/// A new file in place of what is at `path`: its root group.
[[nodiscard]] Hdf5Id create_hdf5_file(const std::filesystem::path& path);
[[nodiscard]] Hdf5Id create_group(const Hdf5Id& parent, const std::string& name);

/// A contiguous data set of `stored_type` from values of `memory_type`.
void write_data(const Hdf5Id& parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values);
/// As little-endian float32; nothing for an empty tensor.
void write_tensor(const Hdf5Id& parent, const std::string& name, const Tensor& tensor);

void write_attribute(const Hdf5Id& object, const char* name, const std::string& text);
void write_attribute(const Hdf5Id& object, const char* name, std::int64_t value);

/// Hands everything to the operating system, and reports what failed.
void flush(const Hdf5Id& file);

}  // namespace attnscope
