// RandAugment on pictures of 8 bits, with torchvision's operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/input/image.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// RandAugment (Cubuk et al. 2020): N operations on each picture, drawn with replacement, all with
/// magnitude M.
struct RandomAugmentSettings {
  std::int64_t operations = 0;  ///< N; 0: none
  std::int64_t magnitude = 9;   ///< M, 0 to 30
};

/// The names of the operations: identity, shear_x, shear_y, translate_x, translate_y, rotate,
/// brightness, colour, contrast, sharpness, posterise, solarise, autocontrast and equalise.
[[nodiscard]] std::vector<std::string_view> augmentations();

/// Applies operation `index` of augmentations() to a picture with 1 or 3 channels, with the bytes
/// of torchvision's RandAugment on a PIL picture. `negative` reverses shears, shifts, rotation and
/// the change of brightness, colour, contrast and sharpness; other operations ignore it. Pixels
/// from outside are black. Width and height must be less than 32768.
void augment(std::size_t index, std::int64_t magnitude, bool negative, Image& image);

/// Applies settings.operations operations drawn from the picture's numbers.
void augment_randomly(const RandomAugmentSettings& settings, const RandomNumbers& numbers,
                      Image& image);

}  // namespace attnscope
