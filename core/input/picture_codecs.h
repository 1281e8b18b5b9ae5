// Decoders of picture formats, one file each. Pictures with more than most_pixels are refused
// before decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/input/image.h"

namespace attnscope {

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
