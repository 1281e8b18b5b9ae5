#include "core/model/preprocessing/image_resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// Input positions of one output position, with weights in units of 2⁻²².
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

constexpr int kBits = 22;

std::vector<Taps> filter_taps(std::int64_t from, std::int64_t to, ResizeFilter filter) {
  std::vector<Taps> taps;
  for (const ResampleTaps& exact : antialiased_taps(from, to, filter)) {
    taps.push_back({exact.first, {}});
    for (const double weight : exact.weights) {
      taps.back().weights.push_back(
          static_cast<std::int32_t>(std::lround(weight * static_cast<double>(1 << kBits))));
    }
  }
  return taps;
}

std::uint8_t round_to_byte(std::int64_t sum) {
  return static_cast<std::uint8_t>(
      std::clamp<std::int64_t>((sum + (std::int64_t{1} << (kBits - 1))) >> kBits, 0, 255));
}

/// Resamples the middle axis of [outer, from, inner] from size `from` to `to`.
std::vector<std::uint8_t> resample_axis(const std::vector<std::uint8_t>& values, std::int64_t outer,
                                        std::int64_t from, std::int64_t to, std::int64_t inner,
                                        ResizeFilter filter) {
  const std::vector<Taps> taps = filter_taps(from, to, filter);
  std::vector<std::uint8_t> result(static_cast<std::size_t>(outer * to * inner));
  std::vector<std::int64_t> sums(static_cast<std::size_t>(inner));
  for (std::int64_t block = 0; block < outer; ++block) {
    for (std::int64_t i = 0; i < to; ++i) {
      const Taps& own = taps[static_cast<std::size_t>(i)];
      std::fill(sums.begin(), sums.end(), 0);
      const std::uint8_t* row = values.data() + (block * from + own.first) * inner;
      for (const std::int32_t weight : own.weights) {
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += std::int64_t{weight} * row[k];
        row += inner;
      }
      std::uint8_t* const out = result.data() + (block * to + i) * inner;
      std::transform(sums.begin(), sums.end(), out, round_to_byte);
    }
  }
  return result;
}

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double keys_cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double lanczos(double x) {
  constexpr double lobes = 3;
  const auto sinc = [](double y) {
    const double angle = std::numbers::pi * y;
    return angle == 0 ? 1 : std::sin(angle) / angle;
  };
  return std::abs(x) < lobes ? sinc(x) * sinc(x / lobes) : 0;
}

/// A kernel, and the distance from which on it is 0.
struct ResampleKernel {
  double (*weight)(double x);
  double support;
};

ResampleKernel resample_kernel(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::bilinear:
      return {triangle, 1};
    case ResizeFilter::bicubic:
      return {keys_cubic, 2};
    case ResizeFilter::lanczos:
      break;
  }
  return {lanczos, 3};
}

}  // namespace

Image resize(const Image& image, std::int64_t width, std::int64_t height, ResizeFilter filter) {
  Image result = image;
  if (width != image.width) {
    result.pixels =
        resample_axis(result.pixels, image.height, image.width, width, image.channels, filter);
    result.width = width;
  }
  if (height != image.height) {
    result.pixels =
        resample_axis(result.pixels, 1, image.height, height, width * image.channels, filter);
    result.height = height;
  }
  return result;
}

Image padded_to_square(const Image& image, const std::vector<std::uint8_t>& colour) {
  const std::int64_t side = std::max(image.width, image.height);
  Image square{side, side, image.channels, {}};
  const auto row_bytes = static_cast<std::size_t>(image.width * image.channels);
  square.pixels.resize(static_cast<std::size_t>(side * side * image.channels));
  for (std::size_t i = 0; i < square.pixels.size(); ++i) {
    square.pixels[i] = colour[i % colour.size()];
  }
  const std::int64_t left = (side - image.width) / 2, top = (side - image.height) / 2;
  for (std::int64_t row = 0; row < image.height; ++row) {
    std::copy_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(row_bytes) * row, row_bytes,
                square.pixels.begin() + ((top + row) * side + left) * image.channels);
  }
  return square;
}

Image crop(const Image& image, std::int64_t left, std::int64_t top, std::int64_t width,
           std::int64_t height) {
  Image result{width, height, image.channels, {}};
  result.pixels.resize(static_cast<std::size_t>(width * height * image.channels));
  const auto row_bytes = static_cast<std::size_t>(width * image.channels);
  for (std::int64_t row = 0; row < height; ++row) {
    std::memcpy(result.pixels.data() + static_cast<std::size_t>(row) * row_bytes,
                image.pixels.data() + ((top + row) * image.width + left) * image.channels,
                row_bytes);
  }
  return result;
}

Image with_channels(const Image& image, std::int64_t channels) {
  if (image.channels == channels) return image;
  const auto count = static_cast<std::size_t>(image.width * image.height);
  Image result{image.width, image.height, channels, {}};
  if (image.channels == 1 && channels == 3) {
    result.pixels.reserve(3 * count);
    for (const std::uint8_t grey : image.pixels) result.pixels.insert(result.pixels.end(), 3, grey);
    return result;
  }
  if (image.channels == 3 && channels == 1) {
    result.pixels.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* const rgb = image.pixels.data() + 3 * i;
      // The weights are 0.299, 0.587 and 0.114 in units of 2⁻¹⁶.
      const std::uint32_t luma = rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U;
      result.pixels[i] = static_cast<std::uint8_t>(luma >> 16);
    }
    return result;
  }
  throw Error(ErrorKind::usage, "the model's number of channels is not that of a picture")
      .expected("1 (grey) or 3 (RGB) channels, or a .npy array [C, H, W]")
      .found(std::to_string(channels) + " channels");
}

std::vector<ResampleTaps> antialiased_taps(std::int64_t from, std::int64_t to,
                                           ResizeFilter filter) {
  const ResampleKernel kernel = resample_kernel(filter);
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widening = std::max(scale, 1.0);
  const double support = kernel.support * widening;
  std::vector<ResampleTaps> taps(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    ResampleTaps& own = taps[static_cast<std::size_t>(i)];
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    // NOLINTBEGIN(bugprone-incorrect-roundings): truncates below zero, as Pillow and PyTorch do
    own.first = std::max(static_cast<std::int64_t>(centre - support + 0.5), std::int64_t{0});
    const auto end = std::min(static_cast<std::int64_t>(centre + support + 0.5), from);
    // NOLINTEND(bugprone-incorrect-roundings)
    double sum = 0;
    for (std::int64_t place = own.first; place < end; ++place) {
      const double x = (static_cast<double>(place) - centre + 0.5) / widening;
      own.weights.push_back(kernel.weight(x));
      sum += own.weights.back();
    }
    for (double& weight : own.weights) weight /= sum;
  }
  return taps;
}

ImageSize size_in_steps(std::int64_t width, std::int64_t height, const InputSpec& spec) {
  if (std::max(width, height) > 200 * std::min(width, height)) {
    throw Error(ErrorKind::usage, "the image is too long and narrow for the model")
        .expected("at most 200 times as long as wide")
        .found(std::to_string(width) + " × " + std::to_string(height));
  }
  const auto step = static_cast<double>(spec.size_step);
  const auto wide = static_cast<double>(width), high = static_cast<double>(height);
  // Halves are rounded to even, as upstream rounds.
  double columns = std::nearbyint(wide / step), rows = std::nearbyint(high / step);
  const double pixels = rows * step * columns * step;
  if (pixels > static_cast<double>(spec.most_pixels)) {
    const double ratio = std::sqrt(high * wide / static_cast<double>(spec.most_pixels));
    rows = std::floor(high / ratio / step);
    columns = std::floor(wide / ratio / step);
  } else if (pixels < static_cast<double>(spec.least_pixels)) {
    const double ratio = std::sqrt(static_cast<double>(spec.least_pixels) / (high * wide));
    rows = std::ceil(high * ratio / step);
    columns = std::ceil(wide * ratio / step);
  }
  const auto whole = [&](double steps) {
    return static_cast<std::int64_t>(std::max(steps, 1.0)) * spec.size_step;
  };
  return {whole(columns), whole(rows)};
}

}  // namespace attnscope
