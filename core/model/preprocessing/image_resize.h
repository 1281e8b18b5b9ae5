// Resizes 8-bit images exactly as Pillow does, because models were trained with Pillow.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/input/image.h"

namespace attnscope {

/// Resizes `image` to the new size (at least 1 pixel) with antialiasing: a triangle filter
/// (bilinear), Keys' cubic with a = −0.5 (bicubic) or a sine cardinal within another of three times
/// its width (Lanczos), widened when shrinking. Resamples
/// horizontally, then vertically, and rounds to 8 bits after each. An axis that keeps its size
/// keeps its values.
[[nodiscard]] Image resize(const Image& image, std::int64_t width, std::int64_t height,
                           ResizeFilter filter);

/// The image in the middle of a square whose side is its longer side; an odd line of the border is
/// below or on the right. `colour` has a value for each channel.
[[nodiscard]] Image padded_to_square(const Image& image, const std::vector<std::uint8_t>& colour);

/// The part [left, left + width) × [top, top + height), which must lie inside the image.
[[nodiscard]] Image crop(const Image& image, std::int64_t left, std::int64_t top,
                         std::int64_t width, std::int64_t height);

/// Converts to 1 channel (ITU-R 601 luma) or 3 channels (grey repeated). Throws Error(usage) for
/// others.
[[nodiscard]] Image with_channels(const Image& image, std::int64_t channels);

/// Weights for antialiased resampling along one axis, for images and position grids.
struct ResampleTaps {
  std::int64_t first = 0;       ///< the first input position with a weight
  std::vector<double> weights;  ///< weights of `first` and the following positions; their sum is 1
};

/// Taps for resampling `from` positions to `to`, with pixel centres at half integers and the kernel
/// widened when shrinking, as in Pillow and torch.nn.functional.interpolate(antialias=True). The
/// kernels are those of resize.
[[nodiscard]] std::vector<ResampleTaps> antialiased_taps(std::int64_t from, std::int64_t to,
                                                         ResizeFilter filter);

struct ImageSize {
  std::int64_t width = 0, height = 0;  ///< pixels
};

/// The size nearest to `width` × `height` in steps of spec.size_step, with as many pixels as the
/// spec allows (transformers' smart_resize in image_processing_qwen2_vl.py). Throws Error(usage)
/// for an image more than 200 times as long as it is wide.
[[nodiscard]] ImageSize size_in_steps(std::int64_t width, std::int64_t height,
                                      const InputSpec& spec);

}  // namespace attnscope
