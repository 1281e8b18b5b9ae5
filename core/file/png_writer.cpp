#include "core/file/png_writer.h"

#include <map>
#include <zlib.h>

#include "core/error.h"
#include "core/file/deflate.h"

namespace attnscope {

namespace {

void add_number(std::string& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255U);
}

void add_colour(std::string& bytes, std::uint32_t colour) {
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(colour >> shift & 255U);
}

/// Appends a chunk: length, type, data, and the CRC of type and data (PNG specification, 5.3).
void add_chunk(std::string& file, const char* type, const std::string& data) {
  add_number(file, static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  file += checked;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  add_number(file, static_cast<std::uint32_t>(crc));
}

void check_pixels(std::int64_t width, std::int64_t height, std::span<const std::uint32_t> pixels) {
  // Pixels per side, far below the limit of a chunk's length.
  constexpr std::int64_t most = 1 << 24;
  if (width > 0 && height > 0 && width <= most && height <= most &&
      pixels.size() == static_cast<std::size_t>(width * height)) {
    return;
  }
  throw Error(ErrorKind::usage, "the number of pixels does not fit the picture")
      .expected(std::to_string(width) + " × " + std::to_string(height))
      .found(std::to_string(pixels.size()));
}

/// Data of the IHDR chunk, with 8 bits per channel or per palette index.
std::string header_of(std::int64_t width, std::int64_t height, bool indexed) {
  std::string header;
  add_number(header, static_cast<std::uint32_t>(width));
  add_number(header, static_cast<std::uint32_t>(height));
  header += {'\x08', indexed ? '\x03' : '\x02', '\0', '\0', '\0'};
  return header;
}

constexpr const char* kSignature = "\x89PNG\r\n\x1a\n";

/// Rows of colours, each after a filter byte and filtered by the difference from the left pixel
/// (Sub).
std::string filtered_colours(std::int64_t width, std::span<const std::uint32_t> pixels) {
  std::string data, row;
  for (std::size_t first = 0; first < pixels.size(); first += static_cast<std::size_t>(width)) {
    row.clear();
    for (const std::uint32_t colour : pixels.subspan(first, static_cast<std::size_t>(width))) {
      add_colour(row, colour);
    }
    data += '\x01';
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char left = i < 3 ? '\0' : row[i - 3];
      data +=
          static_cast<char>(static_cast<unsigned char>(row[i]) - static_cast<unsigned char>(left));
    }
  }
  return data;
}

/// Data of an fcTL chunk for a frame that covers the whole picture and replaces the previous frame.
std::string frame_control(std::uint32_t number, std::int64_t width, std::int64_t height,
                          std::int64_t milliseconds) {
  std::string control;
  add_number(control, number);
  add_number(control, static_cast<std::uint32_t>(width));
  add_number(control, static_cast<std::uint32_t>(height));
  add_number(control, 0);  // offsets
  add_number(control, 0);
  // The duration is a fraction of a second.
  for (const std::int64_t half : {milliseconds, std::int64_t{1000}}) {
    control += static_cast<char>(half >> 8 & 255);
    control += static_cast<char>(half & 255);
  }
  control += {'\0', '\0'};  // dispose_op none, blend_op source
  return control;
}

}  // namespace

std::string png_of(std::int64_t width, std::int64_t height, std::span<const std::uint32_t> pixels) {
  check_pixels(width, height, pixels);
  std::map<std::uint32_t, unsigned> palette;
  for (const std::uint32_t colour : pixels) {
    palette.emplace(colour, 0);
    if (palette.size() > 256) break;
  }
  const bool indexed = palette.size() <= 256;
  std::string colours;
  unsigned next = 0;
  for (auto& [colour, index] : palette) {
    index = next++;
    add_colour(colours, colour);
  }

  std::string data;
  std::size_t pixel = 0;
  for (std::int64_t row = 0; row < height; ++row) {
    data += '\0';  // no filter
    for (std::int64_t column = 0; column < width; ++column) {
      if (indexed) {
        data += static_cast<char>(palette[pixels[pixel++]]);
      } else {
        add_colour(data, pixels[pixel++]);
      }
    }
  }
  std::string file = kSignature;
  add_chunk(file, "IHDR", header_of(width, height, indexed));
  if (indexed) add_chunk(file, "PLTE", colours);
  add_chunk(file, "IDAT", deflated(data));
  add_chunk(file, "IEND", "");
  return file;
}

std::string animated_png_of(std::int64_t width, std::int64_t height,
                            std::span<const std::vector<std::uint32_t>> frames,
                            std::int64_t milliseconds) {
  constexpr std::int64_t longest = 65535;
  if (frames.empty() || milliseconds < 1 || milliseconds > longest) {
    throw Error(ErrorKind::usage, "the number or duration of the frames is out of range")
        .expected("at least 1 frame of 1 to 65535 ms")
        .found(std::to_string(frames.size()) + " frames of " + std::to_string(milliseconds));
  }
  std::string file = kSignature;
  add_chunk(file, "IHDR", header_of(width, height, false));
  std::string control;
  add_number(control, static_cast<std::uint32_t>(frames.size()));
  add_number(control, 0);  // endless loop
  add_chunk(file, "acTL", control);
  std::uint32_t number = 0;  // sequence number of animation chunks
  for (const std::vector<std::uint32_t>& frame : frames) {
    check_pixels(width, height, frame);
    const bool first = number == 0;
    add_chunk(file, "fcTL", frame_control(number++, width, height, milliseconds));
    std::string data;
    if (!first) add_number(data, number++);
    add_chunk(file, first ? "IDAT" : "fdAT", data + deflated(filtered_colours(width, frame)));
  }
  add_chunk(file, "IEND", "");
  return file;
}

}  // namespace attnscope
