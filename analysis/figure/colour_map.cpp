#include "analysis/figure/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

/// Every third of a map's 256 published colours, 0xRRGGBB; linear interpolation has an error of at
/// most 2/255. Sources: viridis, magma (van der Walt & Smith 2015, CC0) and cividis (Nuñez,
/// Anderton & Renslow 2018).
using ControlPoints = std::array<std::uint32_t, 86>;

constexpr ControlPoints viridis_points = {
    0x440154, 0x450559, 0x460a5d, 0x470e61, 0x471365, 0x481769, 0x481b6d, 0x481f70, 0x482374,
    0x482677, 0x472a7a, 0x472e7c, 0x46327e, 0x453581, 0x443983, 0x433d84, 0x424086, 0x414487,
    0x3f4788, 0x3e4a89, 0x3d4e8a, 0x3b518b, 0x3a548c, 0x38588c, 0x375b8d, 0x355e8d, 0x34618d,
    0x32648e, 0x31678e, 0x306a8e, 0x2e6d8e, 0x2d708e, 0x2c728e, 0x2b758e, 0x2a788e, 0x297b8e,
    0x277e8e, 0x26818e, 0x25838e, 0x24868e, 0x23898e, 0x228c8d, 0x218f8d, 0x20928c, 0x1f948c,
    0x1f978b, 0x1f9a8a, 0x1e9d89, 0x1fa088, 0x1fa287, 0x21a585, 0x22a884, 0x25ab82, 0x27ad81,
    0x2ab07f, 0x2eb37c, 0x32b67a, 0x37b878, 0x3bbb75, 0x40bd72, 0x46c06f, 0x4cc26c, 0x52c569,
    0x58c765, 0x5ec962, 0x65cb5e, 0x6ccd5a, 0x73d056, 0x7ad151, 0x81d34d, 0x89d548, 0x90d743,
    0x98d83e, 0xa0da39, 0xa8db34, 0xb0dd2f, 0xb8de29, 0xc0df25, 0xc8e020, 0xd0e11c, 0xd8e219,
    0xdfe318, 0xe7e419, 0xefe51c, 0xf6e620, 0xfde725};

constexpr ControlPoints magma_points = {
    0x000004, 0x010108, 0x02020d, 0x040414, 0x06051a, 0x090720, 0x0c0926, 0x100b2d, 0x130d34,
    0x160f3b, 0x1a1042, 0x1e1149, 0x221150, 0x271258, 0x2c115f, 0x311165, 0x36106b, 0x3b0f70,
    0x400f74, 0x451077, 0x4a1079, 0x4f127b, 0x54137d, 0x59157e, 0x5d177f, 0x621980, 0x671b80,
    0x6b1d81, 0x701f81, 0x752181, 0x792282, 0x7e2482, 0x832681, 0x882781, 0x8c2981, 0x912b81,
    0x962c80, 0x9b2e7f, 0xa02f7f, 0xa5317e, 0xaa337d, 0xae347b, 0xb3367a, 0xb83779, 0xbd3977,
    0xc23b75, 0xc73d73, 0xcc3f71, 0xd0416f, 0xd5446d, 0xd9466b, 0xde4968, 0xe24d66, 0xe55064,
    0xe95462, 0xec5860, 0xef5d5e, 0xf2625d, 0xf4675c, 0xf66c5c, 0xf7725c, 0xf9785d, 0xfa7d5e,
    0xfb835f, 0xfc8961, 0xfc8e64, 0xfd9467, 0xfd9a6a, 0xfe9f6d, 0xfea571, 0xfeaa74, 0xfeb078,
    0xfeb67c, 0xfebb81, 0xfec185, 0xfec68a, 0xfecc8f, 0xfed194, 0xfed799, 0xfddc9e, 0xfde2a3,
    0xfde7a9, 0xfcecae, 0xfcf2b4, 0xfcf7b9, 0xfcfdbf};

constexpr ControlPoints cividis_points = {
    0x00224e, 0x002553, 0x002758, 0x00295d, 0x002b62, 0x002d68, 0x002f6d, 0x003170, 0x053371,
    0x0f3570, 0x163770, 0x1c396f, 0x213b6e, 0x263d6e, 0x2a3f6d, 0x2e416d, 0x32436d, 0x35456c,
    0x39486c, 0x3c4a6c, 0x3f4c6c, 0x424e6c, 0x45506c, 0x48526c, 0x4b546c, 0x4e566c, 0x51586d,
    0x545a6d, 0x565c6d, 0x595e6e, 0x5c616e, 0x5e636f, 0x61656f, 0x646770, 0x666970, 0x696b71,
    0x6c6d72, 0x6e6f73, 0x717274, 0x737475, 0x767676, 0x787877, 0x7b7a78, 0x7e7c78, 0x807f78,
    0x838179, 0x868379, 0x898578, 0x8c8878, 0x8f8a78, 0x928c78, 0x948e77, 0x979177, 0x9a9376,
    0x9d9576, 0xa09875, 0xa39a74, 0xa69c74, 0xa99f73, 0xaca172, 0xafa471, 0xb3a670, 0xb6a96f,
    0xb9ab6d, 0xbcae6c, 0xbfb06b, 0xc2b369, 0xc5b568, 0xc8b866, 0xccba64, 0xcfbd62, 0xd2c060,
    0xd5c25e, 0xd9c55c, 0xdcc859, 0xdfca57, 0xe2cd54, 0xe6d051, 0xe9d34e, 0xedd54a, 0xf0d846,
    0xf3db42, 0xf7de3e, 0xfbe138, 0xfee434, 0xfee838};

using Rgb = std::array<double, 3>;  ///< each 0 to 255

Rgb unpack(std::uint32_t packed) {
  return {static_cast<double>(packed >> 16 & 255), static_cast<double>(packed >> 8 & 255),
          static_cast<double>(packed & 255)};
}

Colour rounded(const Rgb& rgb) {
  const auto byte = [](double channel) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(channel, 0.0, 255.0)));
  };
  return {byte(rgb[0]), byte(rgb[1]), byte(rgb[2]), 255};
}

std::array<Colour, 256> interpolated(const ControlPoints& points) {
  std::array<Colour, 256> colours;
  for (std::size_t index = 0; index < 256; ++index) {
    const std::size_t left = std::min<std::size_t>(index / 3, points.size() - 2);
    const double weight = static_cast<double>(index - 3 * left) / 3.0;
    const Rgb a = unpack(points[left]);
    const Rgb b = unpack(points[left + 1]);
    Rgb mixed{};
    for (std::size_t k = 0; k < 3; ++k) mixed[k] = (1 - weight) * a[k] + weight * b[k];
    colours[index] = rounded(mixed);
  }
  return colours;
}

/// Converts Oklab (Ottosson 2020) to sRGB bytes. Equal steps in lightness look equal.
Rgb srgb_from_oklab(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const Rgb linear = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                      -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  Rgb encoded{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double c = std::clamp(linear[k], 0.0, 1.0);
    encoded[k] = 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
  }
  return encoded;
}

std::array<Colour, 256> grey_colours() {
  std::array<Colour, 256> colours;
  for (std::size_t index = 0; index < 256; ++index) {
    const auto level = static_cast<double>(index);
    colours[index] = rounded({level, level, level});
  }
  return colours;
}

/// Blue, near-white, red: equal lightness on both sides, so that hue shows the sign and darkness
/// the magnitude.
std::array<Colour, 256> diverging_colours() {
  constexpr double blue_hue = 252 * 3.14159265358979 / 180;
  constexpr double red_hue = 28 * 3.14159265358979 / 180;
  std::array<Colour, 256> colours;
  for (std::size_t index = 0; index < 256; ++index) {
    const double signed_size = static_cast<double>(index) / 127.5 - 1;
    const double size = std::abs(signed_size);
    const double lightness = 0.97 - 0.57 * size;
    const double chroma = 0.117 * (1 - std::pow(1 - size, 2.2));
    const double hue = signed_size < 0 ? blue_hue : red_hue;
    colours[index] =
        rounded(srgb_from_oklab(lightness, chroma * std::cos(hue), chroma * std::sin(hue)));
  }
  return colours;
}

/// The symmetric logarithm asinh: linear near zero, logarithmic far from it, without a special case
/// for zero.
double symmetric(const ColourScale& scale, double value) {
  const double linear_extent = std::max(std::abs(scale.minimum), std::abs(scale.maximum)) / 1000;
  return linear_extent > 0 ? std::asinh(value / linear_extent) : 0;
}

}  // namespace

std::span<const ColourMap> colour_maps() {
  static const std::array<ColourMap, 5> list = {
      ColourMap{"viridis", "Viridis", false, interpolated(viridis_points)},
      ColourMap{"magma", "Magma", false, interpolated(magma_points)},
      ColourMap{"cividis", "Cividis", false, interpolated(cividis_points)},
      ColourMap{"grey", "Grey", false, grey_colours()},
      ColourMap{"diverging", "Diverging", true, diverging_colours()},
  };
  return list;
}

const ColourMap& find_colour_map(std::string_view name) {
  for (const ColourMap& map : colour_maps()) {
    if (map.name == name) return map;
  }
  throw unknown_name("colour map", name, name_list(colour_maps(), &ColourMap::name));
}

Colour colour_at(const ColourMap& map, double fraction, bool reversed) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const double position = 255 * (reversed ? 1 - clamped : clamped);
  const auto left = static_cast<std::size_t>(position);
  const double weight = position - static_cast<double>(left);
  const Colour& a = map.colours[left];
  const Colour& b = map.colours[std::min<std::size_t>(left + 1, 255)];
  const auto mix = [weight](std::uint8_t x, std::uint8_t y) {
    return (1 - weight) * x + weight * y;
  };
  return rounded({mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)});
}

Colour legible_on(const Colour& ground) {
  // Brightness weights of ITU-R BT.601.
  const int brightness = (299 * ground.red + 587 * ground.green + 114 * ground.blue) / 1000;
  return brightness > 140 ? Colour{0, 0, 0, 255} : Colour{255, 255, 255, 255};
}

double logarithmic_floor(double minimum, double maximum) {
  if (minimum > 0) return minimum;
  return maximum > 0 ? maximum * 1e-4 : 0;
}

std::optional<double> fraction_of(const ColourScale& scale, double value) {
  if (std::isnan(value)) return std::nullopt;
  double low = scale.minimum;
  double high = scale.maximum;
  double here = std::clamp(value, std::min(low, high), std::max(low, high));
  switch (scale.norm) {
    case ScaleNorm::linear:
      break;
    case ScaleNorm::logarithmic: {
      const double floor = logarithmic_floor(low, high);
      if (floor <= 0) return 0;
      here = std::log(std::max(here, floor) / floor);
      high = std::log(high / floor);
      low = 0;
      break;
    }
    case ScaleNorm::symmetric_logarithmic:
      here = symmetric(scale, here);
      low = symmetric(scale, low);
      high = symmetric(scale, high);
      break;
  }
  return high > low ? std::clamp((here - low) / (high - low), 0.0, 1.0) : 0;
}

ScaleColours::ScaleColours(const ColourScale& scale)
    : map_(&find_colour_map(scale.colour_map)), reversed_(scale.reversed) {
  if (!map_->diverging || scale.norm == ScaleNorm::logarithmic) return;
  if (!(scale.minimum < 0 && scale.maximum > 0)) return;
  zero_ = *fraction_of(scale, 0);
  slope_ = 0.5 / std::max(zero_, 1 - zero_);
}

double ScaleColours::position(double fraction) const {
  const double position = 0.5 + (fraction - zero_) * slope_;
  return std::clamp(reversed_ ? 1 - position : position, 0.0, 1.0);
}

double value_at(const ColourScale& scale, double fraction) {
  const double low = scale.minimum;
  const double high = scale.maximum;
  switch (scale.norm) {
    case ScaleNorm::linear:
      break;
    case ScaleNorm::logarithmic: {
      const double floor = logarithmic_floor(low, high);
      return floor > 0 ? floor * std::pow(high / floor, fraction) : low;
    }
    case ScaleNorm::symmetric_logarithmic: {
      const double s_low = symmetric(scale, low);
      const double s = s_low + fraction * (symmetric(scale, high) - s_low);
      return std::sinh(s) * std::max(std::abs(low), std::abs(high)) / 1000;
    }
  }
  return low + fraction * (high - low);
}

}  // namespace attnscope
