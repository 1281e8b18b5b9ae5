// Colour maps and the mapping from values to colours, shared by figures, atlas and panels.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A colour map at 256 evenly spaced fractions of its range; opaque.
struct ColourMap {
  std::string_view name;   ///< "viridis"
  std::string_view title;  ///< "Viridis", for menus
  bool diverging = false;  ///< the middle stands for zero: for a range symmetric about it
  std::array<Colour, 256> colours;
};

/// viridis (the default), magma, cividis, grey, diverging; all are perceptually uniform.
[[nodiscard]] std::span<const ColourMap> colour_maps();

/// Finds a colour map by name. Throws Error(usage) listing the known ones.
[[nodiscard]] const ColourMap& find_colour_map(std::string_view name);

/// The interpolated colour at `fraction` of the map's range; outside [0, 1] that of the nearest
/// end.
[[nodiscard]] Colour colour_at(const ColourMap& map, double fraction, bool reversed = false);

/// Black or white, whichever has the higher contrast on `ground`.
[[nodiscard]] Colour legible_on(const Colour& ground);

/// Smallest value that a logarithmic scale distinguishes: `minimum` if positive, else maximum ·
/// 1e-4; 0 if no positive value is in the range.
[[nodiscard]] double logarithmic_floor(double minimum, double maximum);

/// Position of `value` in the scale's range, clamped to [0, 1]; empty for NaN.
///   linear                (v − min) / (max − min)
///   logarithmic           ln(v / floor) / ln(max / floor), with floor = logarithmic_floor
///   symmetric_logarithmic s(v) = asinh(v / c), c = max(|min|, |max|) / 1000, between s(min),
///   s(max)
/// An empty range maps every value to 0.
[[nodiscard]] std::optional<double> fraction_of(const ColourScale& scale, double value);

/// The value at `fraction` of the scale's range: the inverse of fraction_of.
[[nodiscard]] double value_at(const ColourScale& scale, double fraction);

/// Colours of a scale. A diverging colour map has its middle at 0 if 0 lies inside the range
/// (except on logarithmic scales), with equal colour strength on both sides: a range from −1 to 4
/// uses a quarter of the blue half.
class ScaleColours {
 public:
  /// Throws Error(usage) for an unknown colour map.
  explicit ScaleColours(const ColourScale& scale);
  /// Position in the colour map, 0 to 1, for a `fraction` of the range (fraction_of).
  [[nodiscard]] double position(double fraction) const;
  [[nodiscard]] Colour operator()(double fraction) const {
    return colour_at(*map_, position(fraction));
  }
  [[nodiscard]] const ColourMap& map() const { return *map_; }
  /// Coefficients of position(f) = 1/2 + (f − zero) · slope, unless reversed.
  [[nodiscard]] double zero() const { return zero_; }
  [[nodiscard]] double slope() const { return slope_; }

 private:
  const ColourMap* map_;
  double zero_ = 0.5, slope_ = 1;
  bool reversed_;
};

/// Colour of a cell without a value (NaN): a light grey that no colour map contains.
inline constexpr Colour no_value_colour{229, 229, 229, 255};

}  // namespace attnscope
