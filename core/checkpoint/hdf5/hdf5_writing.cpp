#include "core/checkpoint/hdf5/hdf5_writing.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/file/atomic_file.h"

namespace attnscope {

namespace {

constexpr const char* kRefusedToWrite = "the HDF5 library refused to write";

void must(bool succeeded, const std::string& what) {
  if (succeeded) return;
  throw Error(ErrorKind::io, kRefusedToWrite).about(what).remedy("the disk may be full");
}

Hdf5Id creation(hid_t kind) {
  Hdf5Id list(H5Pcreate(kind), H5Pclose, kRefusedToWrite);
  if (kind == H5P_LINK_CREATE) {
    must(H5Pset_create_intermediate_group(list.get(), 1) >= 0, "links");
  } else {
    must(H5Pset_obj_track_times(list.get(), false) >= 0, "times");
  }
  return list;
}

void write_in(const Hdf5Id& space, const Hdf5Id& object, const std::string& name, hid_t stored_type,
              hid_t memory_type, const void* value) {
  const Hdf5Id attribute(
      H5Acreate2(object.get(), name.c_str(), stored_type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, kRefusedToWrite);
  must(H5Awrite(attribute.get(), memory_type, value) >= 0, name);
}

void write_scalar(const Hdf5Id& object, const std::string& name, hid_t stored_type,
                  hid_t memory_type, const void* value) {
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose, kRefusedToWrite);
  write_in(space, object, name, stored_type, memory_type, value);
}

}  // namespace

void write_hdf5_file(const std::filesystem::path& path,
                     const std::function<void(const Hdf5Id& root)>& contents) {
  const QuietHdf5 quiet;
  AtomicFile target(path);
  try {
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, kRefusedToWrite);
    // The target is locked already, so the library's own lock would fail.
    must(H5Pset_file_locking(access.get(), false, true) >= 0, "locks");
    must(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) >= 0, "access");
    Hdf5Id root(H5Fcreate(target.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
                H5Fclose, kRefusedToWrite);
    contents(root);
    // Flushes everything to the operating system and reports failures.
    must(H5Fflush(root.get(), H5F_SCOPE_LOCAL) >= 0 && root.close() >= 0, "/");
  } catch (Error& error) {
    error.in_file(path);
    // A failure to write is an I/O error, not a damaged input file.
    if (error.kind() != ErrorKind::damaged) throw;
    throw Error(ErrorKind::io, error.message())
        .in_file(path)
        .about(error.subject())
        .remedy("the disk may be full");
  }
  target.commit();
}

Hdf5Id create_group(const Hdf5Id& parent, const std::string& name) {
  const Hdf5Id links = creation(H5P_LINK_CREATE);
  const Hdf5Id times = creation(H5P_GROUP_CREATE);
  return {H5Gcreate2(parent.get(), name.c_str(), links.get(), times.get(), H5P_DEFAULT), H5Gclose,
          kRefusedToWrite};
}

void write_data(const Hdf5Id& parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                     H5Sclose, kRefusedToWrite);
  const Hdf5Id links = creation(H5P_LINK_CREATE);
  const Hdf5Id times = creation(H5P_DATASET_CREATE);
  const Hdf5Id data(H5Dcreate2(parent.get(), name.c_str(), stored_type, space.get(), links.get(),
                               times.get(), H5P_DEFAULT),
                    H5Dclose, kRefusedToWrite);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  must(H5Dwrite(data.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
}

void write_tensor(const Hdf5Id& parent, const std::string& name, const Tensor& tensor) {
  if (tensor.empty()) return;
  write_data(parent, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, tensor.shape(), tensor.data());
}

Hdf5Id text_type() {
  Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose, kRefusedToWrite);
  must(H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0,
       "text");
  return type;
}

void write_attribute(const Hdf5Id& object, const std::string& name, const std::string& text) {
  const Hdf5Id type = text_type();
  const char* const value = text.c_str();
  write_scalar(object, name, type.get(), type.get(), &value);
}

void write_attribute(const Hdf5Id& object, const std::string& name, std::int64_t value) {
  write_scalar(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void write_attribute(const Hdf5Id& object, const std::string& name, double value) {
  write_scalar(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void write_attribute(const Hdf5Id& object, const std::string& name,
                     const std::vector<std::string>& texts) {
  const hsize_t count = texts.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose, kRefusedToWrite);
  const Hdf5Id type = text_type();
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  write_in(space, object, name, type.get(), type.get(), pointers.data());
}

}  // namespace attnscope
