// Decoded pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
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

// Decoders of picture formats, one file each. Pictures with more than most_pixels are refused
// before decoding.

constexpr std::uint64_t most_pixels = 100'000'000;

/// Throws Error(damaged) if width × height is 0 or more than most_pixels.
void check_extents(std::uint64_t width, std::uint64_t height);

/// PNG, decoded by libpng: palettes are expanded, 16 bits scaled to 8, alpha composed onto white.
/// Colour profiles are ignored, as in the models' training pipelines.
[[nodiscard]] bool is_png(std::span<const std::byte> file);
[[nodiscard]] Image decode_png(std::span<const std::byte> file);

/// JPEG, grey or colour, decoded by libjpeg-turbo with its accurate integer transform. Orientation
/// tags are not applied, like in PIL and torchvision.
[[nodiscard]] bool is_jpeg(std::span<const std::byte> file);
[[nodiscard]] Image decode_jpeg(std::span<const std::byte> file);

}  // namespace attnscope
