#include "core/checkpoint/hdf5_writing.h"

#include <vector>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* kFailed = "the file could not be written";

void must(bool succeeded) {
  if (!succeeded) throw Error(ErrorKind::io, kFailed);
}

}  // namespace

Hdf5Id create_hdf5_file(const std::filesystem::path& path) {
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, kFailed};
}

Hdf5Id create_group(const Hdf5Id& parent, const std::string& name) {
  return {H5Gcreate2(parent.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
          kFailed};
}

void write_data(const Hdf5Id& parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values) {
  std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                     H5Sclose, kFailed);
  const Hdf5Id data(H5Dcreate2(parent.get(), name.c_str(), stored_type, space.get(), H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose, kFailed);
  must(H5Dwrite(data.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

void write_tensor(const Hdf5Id& parent, const std::string& name, const Tensor& tensor) {
  if (tensor.empty()) return;
  write_data(parent, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, tensor.shape(), tensor.data());
}

void write_attribute(const Hdf5Id& object, const char* name, const std::string& text) {
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose, kFailed);
  must(H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0);
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose, kFailed);
  const Hdf5Id attribute(
      H5Acreate2(object.get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      kFailed);
  const char* const value = text.c_str();
  must(H5Awrite(attribute.get(), type.get(), &value) >= 0);
}

void write_attribute(const Hdf5Id& object, const char* name, std::int64_t value) {
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose, kFailed);
  const Hdf5Id attribute(
      H5Acreate2(object.get(), name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, kFailed);
  must(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) >= 0);
}

void flush(const Hdf5Id& file) { must(H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0); }

}  // namespace attnscope
