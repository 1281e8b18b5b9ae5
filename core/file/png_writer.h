// PNG files written in memory: pictures of exact colours.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace attnscope {

/// The bytes of a PNG of `width` × `height` opaque pixels, row 0 on top, each 0xRRGGBB; the same
/// for the same pixels. With a palette where there are 256 colours at most. Throws Error(usage) if
/// the pixels do not fill the extents, or there are none.
[[nodiscard]] std::string png_of(std::int64_t width, std::int64_t height,
                                 std::span<const std::uint32_t> pixels);

}  // namespace attnscope
