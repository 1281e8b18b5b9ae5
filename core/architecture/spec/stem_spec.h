// Convolutions before the patch embedding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/architecture/spec/activation.h"

namespace attnscope {

/// Stack of convolutions, each followed by an optional norm and an activation (Xiao et al. 2021;
/// Graham et al. 2021, LeViT). Patches are cut from the last output. All lists have the same
/// length.
struct StemSpec {
  std::vector<std::int64_t> widths;    ///< output channels of each convolution; empty: no stem
  std::vector<std::int64_t> kernels;   ///< kernel side of each convolution
  std::vector<std::int64_t> strides;   ///< strides in pixels, or cells of the previous convolution
  std::vector<std::int64_t> paddings;  ///< zero padding of each input
  Activation activation = Activation::relu;
  double norm_eps = 1e-5;

  /// True if the lists have the same length and all strides are above 0.
  [[nodiscard]] bool fits() const {
    const std::size_t count = widths.size();
    return kernels.size() == count && strides.size() == count && paddings.size() == count &&
           std::ranges::all_of(strides, [](std::int64_t stride) { return stride > 0; });
  }
  /// Number of cells along an axis of `pixels`; 0 if there are too few pixels or the lists do not
  /// fit.
  [[nodiscard]] std::int64_t extent(std::int64_t pixels) const {
    if (!fits()) return 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::int64_t room = pixels + 2 * paddings[i] - kernels[i];
      if (pixels == 0 || room < 0) return 0;
      pixels = room / strides[i] + 1;
    }
    return pixels;
  }
};

}  // namespace attnscope
