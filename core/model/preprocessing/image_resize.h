// Resizing 8-bit pictures exactly as Pillow does, because models were trained behind Pillow.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/input/image.h"

namespace attnscope {

/// `image` with the new extents (at least 1 pixel), antialiased: a triangle (bilinear) or Keys'
/// cubic with a = −0.5 (bicubic), widened when shrinking; first rows, then columns, each rounded to
/// 8 bits. An axis that keeps its extent keeps its values.
[[nodiscard]] Image resize(const Image& image, std::int64_t width, std::int64_t height,
                           ResizeFilter filter);

/// The part [left, left + width) × [top, top + height), which must lie inside.
[[nodiscard]] Image crop(const Image& image, std::int64_t left, std::int64_t top,
                         std::int64_t width, std::int64_t height);

/// As `channels` 1 (ITU-R 601 luma) or 3 (grey repeated). Throws Error(usage) for others.
[[nodiscard]] Image with_channels(const Image& image, std::int64_t channels);

}  // namespace attnscope
