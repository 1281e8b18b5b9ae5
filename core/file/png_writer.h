// PNG files written in memory: pictures of exact colours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

/// The bytes of a PNG of `width` × `height` opaque pixels, row 0 on top, each 0xRRGGBB; the same
/// for the same pixels. With a palette where there are 256 colours at most. Throws Error(usage) if
/// the pixels do not fill the extents, or there are none.
[[nodiscard]] std::string png_of(std::int64_t width, std::int64_t height,
                                 std::span<const std::uint32_t> pixels);

/// The same of a film, an animated PNG (APNG, PNG specification, third edition, 11.3.6): pictures
/// of the same extents, each shown for `milliseconds` (1 to 65535), from the first again and again.
/// Programs that know no films show the first. Throws Error(usage) also for no pictures.
[[nodiscard]] std::string animated_png_of(std::int64_t width, std::int64_t height,
                                          std::span<const std::vector<std::uint32_t>> frames,
                                          std::int64_t milliseconds);

}  // namespace attnscope
