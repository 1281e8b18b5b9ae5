// Mixup and CutMix: each image of a batch is mixed with another one, and so are their classes.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// The parameters α of the distribution Beta(α, α) that shares are drawn from; 0: never. With both,
/// half of the batches are mixed one way and half the other, as in timm.
struct MixSettings {
  double mixup = 0;   ///< Zhang et al. 2018, Eq. 1 and 2
  double cutmix = 0;  ///< Yun et al. 2019, Eq. 1 and 2

  [[nodiscard]] explicit operator bool() const { return mixup > 0 || cutmix > 0; }
};

/// How the images of one batch are mixed: image i with image batch − 1 − i.
struct Mix {
  double share = 1;   ///< λ, 0 to 1: share of the image itself and of its class
  bool cuts = false;  ///< true: pixels of the box are those of the other image
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;  ///< rows and columns; ends excluded
};

/// λ ~ Beta(α, α), α > 0, as a multiple of 2⁻²⁰, by the rejection of Jöhnk (1964).
[[nodiscard]] double random_share(double alpha, const RandomNumbers& numbers);

/// The box of CutMix for images of height H and width W: of height ⌊H √(1 − λ)⌋ and width
/// ⌊W √(1 − λ)⌋, each rounded down to an even number, around the pixel (row, column), within the
/// image. `share` becomes that of the pixels outside the box.
[[nodiscard]] Mix cut_mix(double share, std::int64_t row, std::int64_t column, std::int64_t height,
                          std::int64_t width);

/// The mix of a batch of images of this size, drawn from the batch's numbers.
[[nodiscard]] Mix random_mix(const MixSettings& settings, const RandomNumbers& numbers,
                             std::int64_t height, std::int64_t width);

/// Replaces `image` [C, H, W] by λ image + (1 − λ) other or, if it cuts, its box by that of
/// `other`.
void mix(const Mix& how, const Tensor& other, Tensor& image);

}  // namespace attnscope
