#include "core/checkpoint/hdf5/hdf5_writer.h"

#include <atomic>

#include "core/checkpoint/hdf5/hdf5_writing.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* refused = "the HDF5 library refused to write";

void must_write(bool succeeded, const std::string& path) {
  if (!succeeded) throw Error(ErrorKind::io, refused).about(path);
}

}  // namespace

struct Hdf5Writer::File {
  Hdf5Id id;

  void write(const std::string& path, const Shape& shape, std::size_t count, hid_t stored,
             hid_t memory, const void* values) const {
    std::size_t elements = 1;
    for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
    if (elements != count) {
      throw Error(ErrorKind::io, "the number of values does not fit their shape")
          .about(path)
          .expected(std::to_string(elements))
          .found(std::to_string(count));
    }
    write_data(id, path, stored, memory, shape, values);
  }

  [[nodiscard]] Hdf5Id object(const std::string& path) const {
    return {H5Oopen(id.get(), path.c_str(), H5P_DEFAULT), H5Oclose, refused};
  }
};

Hdf5Writer::Hdf5Writer() : file_(std::make_unique<File>()) {
  const QuietHdf5 quiet;
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, refused);
  constexpr std::size_t growth = 1 << 20;
  must_write(H5Pset_fapl_core(access.get(), growth, false) >= 0, "memory");
  // The file exists only in memory. Its name must be unique because the library treats files with
  // equal names as the same file.
  static std::atomic<unsigned> count{0};
  const std::string name = "attnscope-" + std::to_string(count++) + ".h5";
  file_->id =
      Hdf5Id(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, refused);
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(const std::string& path) {
  const QuietHdf5 quiet;
  create_group(file_->id, path);
}

void Hdf5Writer::data(const std::string& path, const Shape& shape, std::span<const float> values) {
  const QuietHdf5 quiet;
  file_->write(path, shape, values.size(), H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape, std::span<const double> values) {
  const QuietHdf5 quiet;
  file_->write(path, shape, values.size(), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      std::span<const std::uint8_t> values) {
  const QuietHdf5 quiet;
  file_->write(path, shape, values.size(), H5T_STD_U8LE, H5T_NATIVE_UINT8, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      std::span<const std::int64_t> values) {
  const QuietHdf5 quiet;
  file_->write(path, shape, values.size(), H5T_STD_I64LE, H5T_NATIVE_INT64, values.data());
}

void Hdf5Writer::data(const std::string& path, const Shape& shape,
                      const std::vector<std::string>& texts) {
  const QuietHdf5 quiet;
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Hdf5Id type = text_type();
  file_->write(path, shape, pointers.size(), type.get(), type.get(), pointers.data());
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name,
                           const std::string& text) {
  const QuietHdf5 quiet;
  write_attribute(file_->object(path), name, text);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, double value) {
  const QuietHdf5 quiet;
  write_attribute(file_->object(path), name, value);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name, std::int64_t value) {
  const QuietHdf5 quiet;
  write_attribute(file_->object(path), name, value);
}

void Hdf5Writer::attribute(const std::string& path, const std::string& name,
                           const std::vector<std::string>& texts) {
  const QuietHdf5 quiet;
  write_attribute(file_->object(path), name, texts);
}

std::string Hdf5Writer::bytes() const {
  const QuietHdf5 quiet;
  must_write(H5Fflush(file_->id.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  const ssize_t size = H5Fget_file_image(file_->id.get(), nullptr, 0);
  must_write(size > 0, "/");
  std::string image(static_cast<std::size_t>(size), '\0');
  must_write(H5Fget_file_image(file_->id.get(), image.data(), image.size()) == size, "/");
  return image;
}

}  // namespace attnscope
