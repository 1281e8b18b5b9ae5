#include <csetjmp>
#include <cstring>
#include <png.h>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/input/image.h"

namespace attnscope {

namespace {

struct PngSource {
  std::span<const std::byte> rest;
  char problem[160] = "";
};

void take_bytes(png_structp png, png_bytep target, std::size_t count) {
  auto& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source.rest.size()) png_error(png, "the file is truncated");
  std::memcpy(target, source.rest.data(), count);
  source.rest = source.rest.subspan(count);
}

[[noreturn]] void give_up_png(png_structp png, png_const_charp message) {
  auto& source = *static_cast<PngSource*>(png_get_error_ptr(png));
  std::strncpy(source.problem, message, sizeof source.problem - 1);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// State of decoding. libpng reports errors by longjmp, which must not skip a C++ destructor, so
/// all data live here, outside the functions that call libpng.
struct PngDecoder {
  PngSource source;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::uint8_t> pixels;
  std::vector<png_bytep> rows;
  png_uint_32 width = 0, height = 0;
  std::size_t channels = 0;

  explicit PngDecoder(std::span<const std::byte> file) : source{file} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, give_up_png, ignore_warning);
    info = png == nullptr ? nullptr : png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
};

/// Reads the header and requests 8 bits per channel. Returns false on error.
bool read_png_header(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &decoder.source, take_bytes);
  png_set_user_limits(decoder.png, 1 << 24, 1 << 24);
  png_set_chunk_malloc_max(decoder.png, 8 << 20);
  png_set_chunk_cache_max(decoder.png, 128);
  png_read_info(decoder.png, decoder.info);
  decoder.width = png_get_image_width(decoder.png, decoder.info);
  decoder.height = png_get_image_height(decoder.png, decoder.info);
  png_set_expand(decoder.png);
  png_set_scale_16(decoder.png);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  decoder.channels = png_get_channels(decoder.png, decoder.info);
  return true;
}

bool read_png_pixels(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_read_image(decoder.png, decoder.rows.data());
  return true;
}

Error broken_png(const PngDecoder& decoder) {
  return Error(ErrorKind::damaged, "the PNG is broken").found(decoder.source.problem);
}

}  // namespace

bool is_png(std::span<const std::byte> file) {
  return file.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, 8) == 0;
}

Image decode_png(std::span<const std::byte> file) {
  PngDecoder decoder(file);
  if (!read_png_header(decoder)) throw broken_png(decoder);
  check_extents(decoder.width, decoder.height);
  const std::size_t count = std::size_t{decoder.width} * decoder.height;
  const std::size_t row_bytes = decoder.width * decoder.channels;
  if (png_get_rowbytes(decoder.png, decoder.info) != row_bytes) {
    throw Error(ErrorKind::unsupported, "the PNG's pixel format is not supported");
  }
  decoder.pixels.resize(count * decoder.channels);
  for (std::size_t row = 0; row < decoder.height; ++row) {
    decoder.rows.push_back(decoder.pixels.data() + row * row_bytes);
  }
  if (!read_png_pixels(decoder)) throw broken_png(decoder);

  const bool has_alpha = decoder.channels % 2 == 0;
  const std::size_t colours = decoder.channels - (has_alpha ? 1 : 0);
  Image image{decoder.width, decoder.height, static_cast<std::int64_t>(colours), {}};
  if (!has_alpha) {
    image.pixels = std::move(decoder.pixels);
    return image;
  }
  image.pixels.reserve(count * colours);
  for (std::size_t pixel = 0; pixel < count; ++pixel) {
    const std::uint8_t* const source = decoder.pixels.data() + pixel * decoder.channels;
    const unsigned alpha = source[colours];
    for (std::size_t colour = 0; colour < colours; ++colour) {
      const unsigned on_white = source[colour] * alpha + 255 * (255 - alpha);
      image.pixels.push_back(static_cast<std::uint8_t>((on_white + 127) / 255));
    }
  }
  return image;
}

}  // namespace attnscope
