// Opens an HDF5 file from memory. The child reads the bytes that the program has mapped, even if
// the file was replaced in the meantime, and opens no path.

#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/error.h"

namespace attnscope {

namespace {

// Callbacks with which the library copies an image. All copies are the image itself.

void* same(std::size_t, H5FD_file_image_op_t, void* image) { return image; }

void* leave(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) { return to; }

void* refuse(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }

herr_t keep(void*, H5FD_file_image_op_t, void*) { return 0; }

void* same_context(void* image) { return image; }

herr_t keep_context(void*) { return 0; }

}  // namespace

Hdf5Id open_hdf5_image(std::span<const std::byte> bytes) {
  constexpr const char* refused = "the HDF5 library refused to start";
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, refused);
  constexpr std::size_t growth = 1 << 16;
  // The image is not written to, because the file is opened read-only.
  auto* const image = const_cast<std::byte*>(bytes.data());
  H5FD_file_image_callbacks_t calls{same, leave, refuse, keep, same_context, keep_context, image};
  if (H5Pset_fapl_core(access.get(), growth, false) < 0 ||
      H5Pset_file_image_callbacks(access.get(), &calls) < 0 ||
      H5Pset_file_image(access.get(), image, bytes.size()) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) {
    throw Error(ErrorKind::damaged, refused);
  }
  // The library requires that no file has this name.
  return {H5Fopen("/dev/null/image", H5F_ACC_RDONLY, access.get()), H5Fclose,
          "the HDF5 library cannot open the file"};
}

}  // namespace attnscope
