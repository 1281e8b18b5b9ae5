#include "core/file/png_writer.h"

#include <map>
#include <zlib.h>

#include "core/error.h"

namespace attnscope {

namespace {

void add_number(std::string& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255U);
}

void add_colour(std::string& bytes, std::uint32_t colour) {
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(colour >> shift & 255U);
}

/// Length, type, data, and the CRC of the two last (PNG specification, 5.3).
void add_chunk(std::string& file, const char* type, const std::string& data) {
  add_number(file, static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  file += checked;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  add_number(file, static_cast<std::uint32_t>(crc));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  const int state = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                              reinterpret_cast<const Bytef*>(data.data()),
                              static_cast<uLong>(data.size()), Z_BEST_COMPRESSION);
  if (state != Z_OK) throw Error(ErrorKind::io, "zlib refused to compress a picture");
  out.resize(size);
  return out;
}

}  // namespace

std::string png_of(std::int64_t width, std::int64_t height, std::span<const std::uint32_t> pixels) {
  constexpr std::int64_t most = 1 << 24;  // an extent; far below what a chunk's length may be
  if (width <= 0 || height <= 0 || width > most || height > most ||
      pixels.size() != static_cast<std::size_t>(width * height)) {
    throw Error(ErrorKind::usage, "the pixels do not fill the picture")
        .expected(std::to_string(width) + " × " + std::to_string(height))
        .found(std::to_string(pixels.size()));
  }
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
  std::string header;
  add_number(header, static_cast<std::uint32_t>(width));
  add_number(header, static_cast<std::uint32_t>(height));
  header += {'\x08', indexed ? '\x03' : '\x02', '\0', '\0', '\0'};

  std::string file = "\x89PNG\r\n\x1a\n";
  add_chunk(file, "IHDR", header);
  if (indexed) add_chunk(file, "PLTE", colours);
  add_chunk(file, "IDAT", deflated(data));
  add_chunk(file, "IEND", "");
  return file;
}

}  // namespace attnscope
