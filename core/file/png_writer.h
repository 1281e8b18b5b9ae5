// Writer of PNG files in memory with exact colours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

/// The bytes of a PNG of `width` × `height` opaque pixels, row 0 at the top, each 0xRRGGBB. Equal
/// pixels give equal bytes. At most 256 colours are stored as a palette. Throws Error(usage) if the
/// number of pixels is 0 or not width × height.
[[nodiscard]] std::string png_of(std::int64_t width, std::int64_t height,
                                 std::span<const std::uint32_t> pixels);

/// The bytes of an animated PNG (APNG, PNG specification, third edition, 11.3.6): frames of the
/// same size, each shown for `milliseconds` (1 to 65535), in an endless loop. Programs without APNG
/// support show the first frame. Throws Error(usage) like png_of, and without frames.
[[nodiscard]] std::string animated_png_of(std::int64_t width, std::int64_t height,
                                          std::span<const std::vector<std::uint32_t>> frames,
                                          std::int64_t milliseconds);

}  // namespace attnscope
