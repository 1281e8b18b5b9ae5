#include "app/render/film.h"

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/file/png_writer.h"

namespace attnscope {

std::string film_of(std::span<const QImage> frames, std::int64_t milliseconds) {
  const QSize size = frames.empty() ? QSize() : frames.front().size();
  const auto text = [](const QSize& extent) {
    return std::to_string(extent.width()) + " × " + std::to_string(extent.height());
  };
  std::vector<std::vector<std::uint32_t>> pictures;
  for (const QImage& frame : frames) {
    if (frame.size() != size) {
      throw Error(ErrorKind::usage, "the frames of a film must have the same size")
          .expected(text(size) + " pixels")
          .found(text(frame.size()));
    }
    const QImage plain = frame.convertToFormat(QImage::Format_RGB32);
    std::vector<std::uint32_t>& pixels = pictures.emplace_back();
    pixels.reserve(static_cast<std::size_t>(size.width()) *
                   static_cast<std::size_t>(size.height()));
    for (int row = 0; row < plain.height(); ++row) {
      const auto* const line = reinterpret_cast<const QRgb*>(plain.constScanLine(row));
      for (int column = 0; column < plain.width(); ++column) {
        pixels.push_back(line[column] & 0xFFFFFFU);
      }
    }
  }
  return animated_png_of(size.width(), size.height(), pictures, milliseconds);
}

}  // namespace attnscope
