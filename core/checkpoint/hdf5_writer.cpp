#include "core/checkpoint/hdf5_writer.h"

#include "core/checkpoint/hdf5_file.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* refused = "the HDF5 library refused to write";

void must(bool succeeded, const std::string& path) {
  if (!succeeded) throw Error(ErrorKind::io, refused).about(path);
}

/// Groups on the way are made, and nothing says when: the same numbers are the same bytes.
Hdf5Id creation(hid_t kind) {
  Hdf5Id list(H5Pcreate(kind), H5Pclose, refused);
  if (kind == H5P_LINK_CREATE) {
    must(H5Pset_create_intermediate_group(list.get(), 1) >= 0, "links");
  } else {
    must(H5Pset_obj_track_times(list.get(), false) >= 0, "times");
  }
  return list;
}

Hdf5Id text_type() {
  Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose, refused);
  must(H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0,
       "text");
  return type;
}

}  // namespace

struct Hdf5Writer::File {
  QuietHdf5 quiet;
  Hdf5Id id;

  void write(const std::string& path, const Shape& shape, std::size_t count, hid_t stored,
             hid_t memory, const void* values) const {
    std::size_t elements = 1;
    for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
    if (elements != count) {
      throw Error(ErrorKind::io, "the values do not fit their extents")
          .about(path)
          .expected(std::to_string(elements))
          .found(std::to_string(count));
    }
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                       H5Sclose, refused);
    const Hdf5Id links = creation(H5P_LINK_CREATE);
    const Hdf5Id times = creation(H5P_DATASET_CREATE);
    const Hdf5Id data(H5Dcreate2(id.get(), path.c_str(), stored, space.get(), links.get(),
                                 times.get(), H5P_DEFAULT),
                      H5Dclose, refused);
    if (count == 0) return;
    must(H5Dwrite(data.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, path);
  }

  void attribute(const std::string& path, const std::string& name, hid_t stored, hid_t memory,
                 const void* value) const {
    const Hdf5Id object(H5Oopen(id.get(), path.c_str(), H5P_DEFAULT), H5Oclose, refused);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose, refused);
    const Hdf5Id attribute(
        H5Acreate2(object.get(), name.c_str(), stored, space.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, refused);
    must(H5Awrite(attribute.get(), memory, value) >= 0, path);
  }
};

Hdf5Writer::Hdf5Writer() : file_(std::make_unique<File>()) {
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, refused);
  constexpr std::size_t growth = 1 << 20;
  must(H5Pset_fapl_core(access.get(), growth, false) >= 0, "memory");
  // The name is never used: the file is in memory alone.
  file_->id = Hdf5Id(H5Fcreate("attnscope.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                     refused);
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(const std::string& path) {
  const Hdf5Id links = creation(H5P_LINK_CREATE);
  const Hdf5Id times = creation(H5P_GROUP_CREATE);
  const Hdf5Id made(
      H5Gcreate2(file_->id.get(), path.c_str(), links.get(), times.get(), H5P_DEFAULT), H5Gclose,
      refused);
}

void Hdf5Writer::data(const std::string& path, const Shape& shape, std::span<const float> values) {
  file_->write(path, shape, values.size(), H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape, std::span<const double> values) {
  file_->write(path, shape, values.size(), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      std::span<const std::uint8_t> values) {
  file_->write(path, shape, values.size(), H5T_STD_U8LE, H5T_NATIVE_UINT8, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      std::span<const std::int64_t> values) {
  file_->write(path, shape, values.size(), H5T_STD_I64LE, H5T_NATIVE_INT64, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Hdf5Id type = text_type();
  file_->write(path, shape, pointers.size(), type.get(), type.get(), pointers.data());
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name,
                           const std::string& text) {
  const Hdf5Id type = text_type();
  const char* const value = text.c_str();
  file_->attribute(path, name, type.get(), type.get(), &value);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, double value) {
  file_->attribute(path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, std::int64_t value) {
  file_->attribute(path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

std::string Hdf5Writer::bytes() const {
  must(H5Fflush(file_->id.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  const ssize_t size = H5Fget_file_image(file_->id.get(), nullptr, 0);
  must(size > 0, "/");
  std::string image(static_cast<std::size_t>(size), '\0');
  must(H5Fget_file_image(file_->id.get(), image.data(), image.size()) == size, "/");
  return image;
}

}  // namespace attnscope
