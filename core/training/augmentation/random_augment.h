// RandAugment on pictures of 8 bits, with those operations of torchvision that need no resampling.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/input/image.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// RandAugment (Cubuk et al. 2020): N operations on each picture, drawn with replacement, all with
/// magnitude M.
struct RandomAugmentSettings {
  std::int64_t operations = 0;  ///< N; 0: none
  std::int64_t magnitude = 9;   ///< M, 0 to 30
};

/// The names of the operations: identity, translate_x, translate_y, brightness, contrast,
/// posterise, solarise, autocontrast and equalise. torchvision has five more: shears, rotation,
/// colour and sharpness.
[[nodiscard]] std::span<const std::string_view> augmentations();

/// Applies operation `index` of augmentations() to a picture with 1 or 3 channels, with the bytes
/// of torchvision's RandAugment on a PIL picture. `negative` reverses the sign of shifts and the
/// change of brightness and contrast; other operations ignore it. Pixels shifted in are black.
void augment(std::size_t index, std::int64_t magnitude, bool negative, Image& image);

/// Applies settings.operations operations drawn from the picture's numbers.
void augment_randomly(const RandomAugmentSettings& settings, const RandomNumbers& numbers,
                      Image& image);

}  // namespace attnscope
