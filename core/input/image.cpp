#include "core/input/image.h"

#include <memory>
#include <string>

#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

void check_extents(std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0 || width > most_pixels / height) {
    throw Error(ErrorKind::damaged, "the picture's size is impossible")
        .expected("1 to " + std::to_string(most_pixels) + " pixels")
        .found(std::to_string(width) + " × " + std::to_string(height));
  }
}

Image read_image(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return with_file(path, [&] {
    return read_unchanged(*file, [&] {
      if (is_png(file->bytes())) return decode_png(file->bytes());
      if (is_jpeg(file->bytes())) return decode_jpeg(file->bytes());
      throw Error(ErrorKind::not_this_format, "is not a picture that can be read")
          .remedy("convert it to PNG or JPEG");
    });
  });
}

}  // namespace attnscope
