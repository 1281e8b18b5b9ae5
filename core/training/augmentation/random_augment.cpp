#include "core/training/augmentation/random_augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <numeric>

namespace attnscope {

namespace {

constexpr double kMostMagnitude = 30;

using ByteMap = std::array<std::uint8_t, 256>;

std::uint8_t byte_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

/// The map with `of(value)` for each value of a byte.
template <class Of>
ByteMap byte_map(const Of& of) {
  ByteMap map;
  for (int value = 0; value < 256; ++value) map[static_cast<std::size_t>(value)] = of(value);
  return map;
}

/// Applies a map of bytes to every pixel; `map_of(channel)` is the map of a channel.
template <class MapOf>
void map_channels(Image& image, const MapOf& map_of) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const ByteMap map = map_of(channel);
    for (std::size_t i = channel; i < image.pixels.size(); i += channels) {
      image.pixels[i] = map[image.pixels[i]];
    }
  }
}

std::array<std::int64_t, 256> histogram(const Image& image, std::size_t channel) {
  std::array<std::int64_t, 256> counts{};
  for (std::size_t i = channel; i < image.pixels.size();
       i += static_cast<std::size_t>(image.channels)) {
    ++counts[image.pixels[i]];
  }
  return counts;
}

/// Pixel (x, y) becomes pixel (a x + b y + c, d x + e y + f) of the former picture, the nearest one
/// to the pixel's centre in fixed point with 16 binary digits, as PIL's transform; black outside.
void transform(Image& image, double a, double b, double c, double d, double e, double f) {
  const auto fixed = [](double value) {
    return static_cast<std::int64_t>(std::floor(value * 65536 + 0.5));
  };
  const Image before = image;
  const std::int64_t right_x = fixed(a), down_x = fixed(b), right_y = fixed(d), down_y = fixed(e);
  const std::int64_t first_x = fixed(c + (a + b) / 2), first_y = fixed(f + (d + e) / 2);
  std::uint8_t* to = image.pixels.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x, to += image.channels) {
      const std::int64_t from_x = (first_x + y * down_x + x * right_x) >> 16,
                         from_y = (first_y + y * down_y + x * right_y) >> 16;
      const bool inside =
          from_x >= 0 && from_x < image.width && from_y >= 0 && from_y < image.height;
      const std::uint8_t* const from =
          before.pixels.data() + (from_y * image.width + from_x) * image.channels;
      for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        to[channel] = inside ? from[channel] : std::uint8_t{0};
      }
    }
  }
}

/// Rotates around the centre, counter-clockwise for positive angles.
void rotate(Image& image, double degrees) {
  if (degrees == 0) return;
  const double angle = -degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const double x = static_cast<double>(image.width) / 2, y = static_cast<double>(image.height) / 2;
  transform(image, c, s, x - c * x - s * y, -s, c, y + s * x - c * y);
}

/// other + factor · (image − other) of each byte, in float and cut to a byte.
void blend(const Image& other, double factor, Image& image) {
  const auto part = static_cast<float>(factor);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const int from = other.pixels[i], change = image.pixels[i] - from;
    const float blended = static_cast<float>(from) + part * static_cast<float>(change);
    image.pixels[i] = byte_of(static_cast<double>(blended));
  }
}

/// The picture with the same byte everywhere.
Image plain(const Image& like, int byte) {
  Image made = like;
  std::ranges::fill(made.pixels, static_cast<std::uint8_t>(byte));
  return made;
}

/// The picture's luma, 0.299 R + 0.587 G + 0.114 B in bytes, in every channel.
Image grey(const Image& image) {
  Image made = image;
  if (image.channels == 1) return made;
  for (std::size_t i = 0; i < made.pixels.size(); i += 3) {
    const std::uint8_t* const rgb = image.pixels.data() + i;
    const int luma = (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16;
    std::fill_n(made.pixels.begin() + static_cast<std::ptrdiff_t>(i), 3,
                static_cast<std::uint8_t>(luma));
  }
  return made;
}

int rounded_mean(const Image& image) {
  const double sum = std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0);
  return static_cast<int>(sum / static_cast<double>(image.pixels.size()) + 0.5);
}

/// The picture filtered by (1 1 1, 1 5 1, 1 1 1) / 13; pixels at the borders stay, as in PIL.
Image smooth(const Image& image) {
  Image made = image;
  const std::int64_t row = image.width * image.channels;
  for (std::int64_t y = 1; y + 1 < image.height; ++y) {
    for (std::int64_t i = image.channels; i < row - image.channels; ++i) {
      const std::uint8_t* const at = image.pixels.data() + y * row + i;
      int sum = 4 * at[0];
      for (const std::int64_t above : {-row, std::int64_t{0}, row}) {
        for (const std::int64_t left : {-image.channels, std::int64_t{0}, image.channels}) {
          sum += at[above + left];
        }
      }
      made.pixels[static_cast<std::size_t>(y * row + i)] =
          static_cast<std::uint8_t>((2 * sum + 13) / 26);
    }
  }
  return made;
}

void solarise(Image& image, double threshold) {
  const ByteMap map = byte_map([&](int value) {
    return static_cast<std::uint8_t>(value < threshold ? value : 255 - value);
  });
  map_channels(image, [&](std::size_t) { return map; });
}

/// Keeps the leading bits of each byte.
void posterise(Image& image, int bits) {
  const ByteMap map = byte_map(
      [&](int value) { return static_cast<std::uint8_t>(value & ~((1 << (8 - bits)) - 1)); });
  map_channels(image, [&](std::size_t) { return map; });
}

/// Stretches each channel so that its values reach from 0 to 255.
void stretch_contrast(Image& image) {
  map_channels(image, [&](std::size_t channel) {
    const auto counts = histogram(image, channel);
    int low = 0, high = 255;
    while (low < 255 && counts[static_cast<std::size_t>(low)] == 0) ++low;
    while (high > 0 && counts[static_cast<std::size_t>(high)] == 0) --high;
    if (high <= low) return byte_map([](int value) { return static_cast<std::uint8_t>(value); });
    const double scale = 255.0 / (high - low), offset = -low * scale;
    return byte_map([&](int value) { return byte_of(value * scale + offset); });
  });
}

/// Maps each channel so that its values are spread evenly, as in PIL's ImageOps.equalize.
void equalise(Image& image) {
  map_channels(image, [&](std::size_t channel) {
    const auto counts = histogram(image, channel);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](auto n) { return n > 0; });
    const std::int64_t step = (image.width * image.height - *last) / 255;
    if (step == 0) return byte_map([](int value) { return static_cast<std::uint8_t>(value); });
    std::int64_t sum = step / 2;
    return byte_map([&](int value) {
      const std::int64_t level = sum / step;
      sum += counts[static_cast<std::size_t>(value)];
      return static_cast<std::uint8_t>(std::min<std::int64_t>(level, 255));
    });
  });
}

/// An operation with the magnitude as a share of the greatest, 0 to 1, and its sign, −1 or 1.
struct Operation {
  std::string_view name;
  void (*apply)(Image& image, double share, double sign);
};

/// Pixels of a shift of a picture with this side.
std::int64_t shift_of(std::int64_t side, double signed_share) {
  return static_cast<std::int64_t>(signed_share * 150 / 331 * static_cast<double>(side));
}

/// In torchvision's order.
constexpr Operation kOperations[] = {
    {"identity", [](Image&, double, double) {}},
    {"shear_x", [](Image& image, double share,
                   double sign) { transform(image, 1, sign * 0.3 * share, 0, 0, 1, 0); }},
    {"shear_y", [](Image& image, double share,
                   double sign) { transform(image, 1, 0, 0, sign * 0.3 * share, 1, 0); }},
    {"translate_x",
     [](Image& image, double share, double sign) {
       const auto right = static_cast<double>(shift_of(image.width, sign * share));
       transform(image, 1, 0, -right, 0, 1, 0);
     }},
    {"translate_y",
     [](Image& image, double share, double sign) {
       const auto down = static_cast<double>(shift_of(image.height, sign * share));
       transform(image, 1, 0, 0, 0, 1, -down);
     }},
    {"rotate", [](Image& image, double share, double sign) { rotate(image, sign * 30 * share); }},
    {"brightness", [](Image& image, double share,
                      double sign) { blend(plain(image, 0), 1 + sign * 0.9 * share, image); }},
    {"colour", [](Image& image, double share,
                  double sign) { blend(grey(image), 1 + sign * 0.9 * share, image); }},
    {"contrast",
     [](Image& image, double share, double sign) {
       blend(plain(image, rounded_mean(grey(image))), 1 + sign * 0.9 * share, image);
     }},
    {"sharpness", [](Image& image, double share,
                     double sign) { blend(smooth(image), 1 + sign * 0.9 * share, image); }},
    {"posterise", [](Image& image, double share,
                     double) { posterise(image, 8 - static_cast<int>(std::lround(4 * share))); }},
    {"solarise", [](Image& image, double share, double) { solarise(image, 255 - 255 * share); }},
    {"autocontrast", [](Image& image, double, double) { stretch_contrast(image); }},
    {"equalise", [](Image& image, double, double) { equalise(image); }},
};

}  // namespace

std::vector<std::string_view> augmentations() {
  std::vector<std::string_view> names;
  for (const Operation& one : kOperations) names.push_back(one.name);
  return names;
}

void augment(std::size_t index, std::int64_t magnitude, bool negative, Image& image) {
  kOperations[index].apply(image, static_cast<double>(magnitude) / kMostMagnitude,
                           negative ? -1 : 1);
}

void augment_randomly(const RandomAugmentSettings& settings, const RandomNumbers& numbers,
                      Image& image) {
  const std::int64_t kinds = std::ssize(kOperations);
  for (std::int64_t i = 0; i < settings.operations; ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    augment(static_cast<std::size_t>(numbers.below(kinds, at)), settings.magnitude,
            numbers.below(2, at + 1) == 1, image);
  }
}

}  // namespace attnscope
