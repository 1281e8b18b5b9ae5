#include "core/training/augmentation/mixing.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

double random_share(double alpha, const RandomNumbers& numbers) {
  for (std::uint64_t i = 0;; i += 2) {
    // The logarithms of U^(1/α) and V^(1/α), which may be too small for a double.
    const double first = std::log(numbers.uniform(i)) / alpha,
                 second = std::log(numbers.uniform(i + 1)) / alpha;
    if (std::exp(first) + std::exp(second) > 1) continue;
    // The last digits of logarithms differ from machine to machine; those of the share do not.
    return std::round(0x1p20 / (1 + std::exp(second - first))) * 0x1p-20;
  }
}

Mix cut_mix(double share, std::int64_t row, std::int64_t column, std::int64_t height,
            std::int64_t width) {
  const double ratio = std::sqrt(1 - share);
  const auto half = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(static_cast<double>(extent) * ratio) / 2;
  };
  Mix cut = {.cuts = true,
             .top = std::max<std::int64_t>(row - half(height), 0),
             .bottom = std::min(row + half(height), height),
             .left = std::max<std::int64_t>(column - half(width), 0),
             .right = std::min(column + half(width), width)};
  const auto inside = static_cast<double>((cut.bottom - cut.top) * (cut.right - cut.left));
  cut.share = 1 - inside / static_cast<double>(height * width);
  return cut;
}

Mix random_mix(const MixSettings& settings, const RandomNumbers& numbers, std::int64_t height,
               std::int64_t width) {
  if (!settings) return {};
  const bool both = settings.mixup > 0 && settings.cutmix > 0;
  const bool cuts = both ? numbers.below(2, 0) == 1 : settings.cutmix > 0;
  const double share = random_share(cuts ? settings.cutmix : settings.mixup, numbers.of("share"));
  if (!cuts) return {.share = share};
  return cut_mix(share, numbers.below(height, 1), numbers.below(width, 2), height, width);
}

void mix(const Mix& how, const Tensor& other, Tensor& image) {
  if (!how.cuts) {
    const auto share = static_cast<float>(how.share), rest = static_cast<float>(1 - how.share);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      image.data()[i] = share * image.data()[i] + rest * other.data()[i];
    }
    return;
  }
  const std::int64_t rows = how.bottom - how.top, columns = how.right - how.left;
  for (std::int64_t channel = 0; channel < image.extent(0); ++channel) {
    image.slice(channel).block(how.top, how.left, rows, columns) =
        other.slice(channel).block(how.top, how.left, rows, columns);
  }
}

}  // namespace attnscope
