// Random erasing: a box of an image is replaced by noise or by zeros.
#pragma once

#include <cstdint>
#include <optional>

#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// The content of erased boxes of normalised images: `noise` is a standard normal number for each
/// pixel and channel (timm's "pixel", torchvision's "random"), `zero` the mean of the pixels.
enum class ErasedFill { noise, zero };

/// Random erasing (Zhong et al. 2020) of one box, with timm's ranges.
struct ErasingSettings {
  double probability = 0;  ///< probability that an image is erased, 0 to 1
  ErasedFill fill = ErasedFill::noise;
};

/// Rows [top, top + height) and columns [left, left + width).
struct ErasedBox {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
};

/// A box of a share of the image uniform in [0.02, 1/3], with a logarithm of height over width
/// uniform in [ln 0.3, −ln 0.3], at a uniform place. Sides are rounded. Boxes that are as high or
/// as wide as the image are drawn again, at most nine times; then there is none.
[[nodiscard]] std::optional<ErasedBox> random_box(const RandomNumbers& numbers, std::int64_t height,
                                                  std::int64_t width);

/// Erases a box of the normalised `image` [C, H, W] with the settings' probability.
void erase_randomly(const ErasingSettings& settings, const RandomNumbers& numbers, Tensor& image);

}  // namespace attnscope
