// Decoders of picture formats, one file each. A picture of more than most_pixels is refused before
// anything is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/input/image.h"

namespace attnscope {

constexpr std::uint64_t most_pixels = 100'000'000;

/// Throws Error(damaged) if width × height is 0 or more than most_pixels.
void check_extents(std::uint64_t width, std::uint64_t height);

/// PNG by libpng: palettes expanded, 16 bits scaled to 8, alpha composed onto white. No colour
/// management: pixels are what the file holds, as the models' training pipelines take them.
[[nodiscard]] bool is_png(std::span<const std::byte> file);
[[nodiscard]] Image decode_png(std::span<const std::byte> file);

/// JPEG by libjpeg-turbo, its accurate integer transform; grey or colour. Orientation tags are not
/// applied, as by PIL and torchvision.
[[nodiscard]] bool is_jpeg(std::span<const std::byte> file);
[[nodiscard]] Image decode_jpeg(std::span<const std::byte> file);

}  // namespace attnscope
