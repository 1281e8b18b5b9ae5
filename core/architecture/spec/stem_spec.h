// Convolutions over the pixels before patches are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/architecture/spec/activation.h"

namespace attnscope {

/// A stack of convolutions, each with a norm, where the file has one, and an activation behind it
/// (Xiao et al. 2021; Graham et al. 2021, LeViT). Patches are then cut of what the last one gives.
/// All lists are of the same length.
struct StemSpec {
  std::vector<std::int64_t> widths;    ///< channels that each gives; empty: no stem
  std::vector<std::int64_t> kernels;   ///< their sides
  std::vector<std::int64_t> strides;   ///< pixels, or cells of the one before
  std::vector<std::int64_t> paddings;  ///< zeros around what each is given
  Activation activation = Activation::relu;
  double norm_eps = 1e-5;

  /// Whether the lists are of one length, and strides above 0.
  [[nodiscard]] bool fits() const {
    const std::size_t count = widths.size();
    return kernels.size() == count && strides.size() == count && paddings.size() == count &&
           std::ranges::all_of(strides, [](std::int64_t stride) { return stride > 0; });
  }
  /// Cells along an axis of `pixels`; 0 where they are too few, or the lists do not fit.
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
