#include "core/training/augmentation/random_augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

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

/// Moves the picture by whole pixels to the right and down.
void translate(Image& image, std::int64_t right, std::int64_t down) {
  const Image before = image;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::int64_t from_y = y - down, from_x = x - right;
      const bool inside =
          from_y >= 0 && from_y < image.height && from_x >= 0 && from_x < image.width;
      for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        const auto at = [&](std::int64_t row, std::int64_t column) {
          return static_cast<std::size_t>((row * image.width + column) * image.channels + channel);
        };
        image.pixels[at(y, x)] = inside ? before.pixels[at(from_y, from_x)] : std::uint8_t{0};
      }
    }
  }
}

/// The blend of each byte with `grey`: grey + factor · (value − grey), in float and cut to a byte.
void blend_with(Image& image, int grey, double factor) {
  const auto part = static_cast<float>(factor);
  const ByteMap map = byte_map([&](int value) {
    const float blended = static_cast<float>(grey) + part * static_cast<float>(value - grey);
    return byte_of(static_cast<double>(blended));
  });
  map_channels(image, [&](std::size_t) { return map; });
}

/// The rounded mean of the picture's luma, 0.299 R + 0.587 G + 0.114 B in bytes.
int mean_grey(const Image& image) {
  std::int64_t sum = 0;
  const std::vector<std::uint8_t>& pixels = image.pixels;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < pixels.size(); i += channels) {
    sum += channels == 1
               ? pixels[i]
               : (pixels[i] * 19595 + pixels[i + 1] * 38470 + pixels[i + 2] * 7471 + 0x8000) >> 16;
  }
  const double count = static_cast<double>(image.width * image.height);
  return static_cast<int>(static_cast<double>(sum) / count + 0.5);
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

}  // namespace

std::span<const std::string_view> augmentations() {
  static constexpr std::string_view names[] = {"identity",   "translate_x",  "translate_y",
                                               "brightness", "contrast",     "posterise",
                                               "solarise",   "autocontrast", "equalise"};
  return names;
}

void augment(std::size_t index, std::int64_t magnitude, bool negative, Image& image) {
  const double share = static_cast<double>(magnitude) / kMostMagnitude, sign = negative ? -1 : 1;
  const auto pixels = [&](std::int64_t extent) {
    return static_cast<std::int64_t>(sign * share * 150 / 331 * static_cast<double>(extent));
  };
  switch (index) {
    case 1:
      return translate(image, pixels(image.width), 0);
    case 2:
      return translate(image, 0, pixels(image.height));
    case 3:
      return blend_with(image, 0, 1 + sign * 0.9 * share);
    case 4:
      return blend_with(image, mean_grey(image), 1 + sign * 0.9 * share);
    case 5:
      return posterise(image, 8 - static_cast<int>(std::lround(4 * share)));
    case 6:
      return solarise(image, 255 - 255 * share);
    case 7:
      return stretch_contrast(image);
    case 8:
      return equalise(image);
    default:
      return;
  }
}

void augment_randomly(const RandomAugmentSettings& settings, const RandomNumbers& numbers,
                      Image& image) {
  const auto kinds = static_cast<std::int64_t>(augmentations().size());
  for (std::int64_t i = 0; i < settings.operations; ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    augment(static_cast<std::size_t>(numbers.below(kinds, at)), settings.magnitude,
            numbers.below(2, at + 1) == 1, image);
  }
}

}  // namespace attnscope
