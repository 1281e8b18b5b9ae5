#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <jpeglib.h>
// jerror.h needs jpeglib.h before it.
#include <jerror.h>
#include <string>

#include "core/error.h"
#include "core/input/image.h"

namespace attnscope {

namespace {

/// Error state of libjpeg, which reports errors by a callback that must not return. The callback
/// uses longjmp, which must not skip a C++ destructor.
struct ErrorState {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char problem[JMSG_LENGTH_MAX] = "";
};

struct JpegDecoder {
  jpeg_decompress_struct jpeg{};
  ErrorState error{};
  jpeg_progress_mgr progress{};
  Image image;

  JpegDecoder() = default;
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
};

[[noreturn]] void give_up_jpeg(j_common_ptr jpeg) {
  auto& state = *reinterpret_cast<ErrorState*>(jpeg->err);
  jpeg->err->format_message(jpeg, state.problem);
  std::longjmp(state.jump, 1);
}

/// Refuses truncated files, for which libjpeg only warns and fills the rest with grey.
void refuse_cut_off(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF) give_up_jpeg(jpeg);
}

/// Limits the number of scans: a few kilobytes can hold thousands of them, each a pass over the
/// whole picture.
void refuse_many_scans(j_common_ptr jpeg) {
  constexpr int most_scans = 200;
  auto& state = *reinterpret_cast<ErrorState*>(jpeg->err);
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > most_scans) {
    std::snprintf(state.problem, sizeof state.problem, "more than %d scans", most_scans);
    std::longjmp(state.jump, 1);
  }
}

bool read_jpeg_header(JpegDecoder& decoder, std::span<const std::byte> file) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  jpeg.err = jpeg_std_error(&decoder.error.manager);
  decoder.error.manager.error_exit = give_up_jpeg;
  decoder.error.manager.emit_message = refuse_cut_off;
  if (setjmp(decoder.error.jump) != 0) return false;
  jpeg_create_decompress(&jpeg);
  decoder.progress.progress_monitor = refuse_many_scans;
  jpeg.progress = &decoder.progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  return true;
}

bool read_jpeg_pixels(JpegDecoder& decoder) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  if (setjmp(decoder.error.jump) != 0) return false;
  jpeg_start_decompress(&jpeg);
  const std::size_t row_bytes =
      std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = decoder.image.pixels.data() + jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

Error broken_jpeg(const JpegDecoder& decoder) {
  return Error(ErrorKind::damaged, "the JPEG is broken").found(decoder.error.problem);
}

}  // namespace

bool is_jpeg(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8} &&
         file[2] == std::byte{0xFF};
}

Image decode_jpeg(std::span<const std::byte> file) {
  JpegDecoder decoder;
  if (!read_jpeg_header(decoder, file)) throw broken_jpeg(decoder);
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  check_extents(jpeg.image_width, jpeg.image_height);
  if (jpeg.num_components != 1 && jpeg.num_components != 3) {
    throw Error(ErrorKind::unsupported, "the JPEG is neither grey nor RGB")
        .found(std::to_string(jpeg.num_components) + " colour components")
        .remedy("convert it to RGB");
  }
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  decoder.image.width = jpeg.image_width;
  decoder.image.height = jpeg.image_height;
  decoder.image.channels = jpeg.num_components;
  decoder.image.pixels.resize(std::size_t{jpeg.image_width} * jpeg.image_height *
                              static_cast<std::size_t>(jpeg.num_components));
  if (!read_jpeg_pixels(decoder)) throw broken_jpeg(decoder);
  return std::move(decoder.image);
}

}  // namespace attnscope
