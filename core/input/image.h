// Decoded pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace attnscope {

/// A picture with 8 bits per channel, row-major, channels interleaved.
struct Image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 0;  ///< 1 grey, 3 RGB
  std::vector<std::uint8_t> pixels;
};

/// Reads PNG or JPEG (alpha is composed onto white). Throws Error(io | not_this_format | damaged).
[[nodiscard]] Image read_image(const std::filesystem::path& file);

}  // namespace attnscope
