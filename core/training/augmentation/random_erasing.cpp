#include "core/training/augmentation/random_erasing.h"

#include <cmath>

namespace attnscope {

namespace {

// torchvision and timm take these numbers: the share of the image, and height over width.
constexpr double kLeastArea = 0.02, kMostArea = 1.0 / 3, kLeastRatio = 0.3;
constexpr std::uint64_t kTrials = 10;

}  // namespace

std::optional<ErasedBox> random_box(const RandomNumbers& numbers, std::int64_t height,
                                    std::int64_t width) {
  const double least = std::log(kLeastRatio);
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const RandomNumbers own = numbers.of(trial);
    const double share = kLeastArea + (kMostArea - kLeastArea) * own.uniform(0),
                 area = share * static_cast<double>(height * width),
                 ratio = std::exp(least - 2 * least * own.uniform(1));
    ErasedBox box;
    box.height = std::lrint(std::sqrt(area * ratio));
    box.width = std::lrint(std::sqrt(area / ratio));
    if (box.height >= height || box.width >= width) continue;
    box.top = own.below(height - box.height + 1, 2);
    box.left = own.below(width - box.width + 1, 3);
    return box;
  }
  return std::nullopt;
}

void erase_randomly(const ErasingSettings& settings, const RandomNumbers& numbers, Tensor& image) {
  if (settings.probability == 0 || numbers.uniform(0) >= settings.probability) return;
  const auto box = random_box(numbers.of("box"), image.extent(1), image.extent(2));
  if (!box) return;
  const RandomNumbers noise = numbers.of("noise");
  std::uint64_t drawn = 0;
  for (std::int64_t channel = 0; channel < image.extent(0); ++channel) {
    auto erased = image.slice(channel).block(box->top, box->left, box->height, box->width);
    for (Eigen::Index row = 0; row < erased.rows(); ++row) {
      for (Eigen::Index column = 0; column < erased.cols(); ++column) {
        const bool noisy = settings.fill == ErasedFill::noise;
        erased(row, column) = noisy ? static_cast<float>(noise.normal(drawn++)) : 0.0F;
      }
    }
  }
}

}  // namespace attnscope
