// Colour maps, and how a value becomes a colour: one place for figures, atlas and panels.
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
  bool diverging = false;  ///< its middle stands for zero: meant for a range symmetric about it
  std::array<Colour, 256> colours;
};

/// viridis (the default), magma, cividis, grey, diverging: perceptually uniform all.
[[nodiscard]] std::span<const ColourMap> colour_maps();

/// Throws Error(usage) listing the known colour maps.
[[nodiscard]] const ColourMap& find_colour_map(std::string_view name);

/// The colour at `fraction` of the map's range, interpolated; outside [0, 1] its nearest end.
[[nodiscard]] Colour colour_at(const ColourMap& map, double fraction, bool reversed = false);

/// Black or white, whichever reads better on `ground`.
[[nodiscard]] Colour legible_on(const Colour& ground);

/// Smallest value a logarithmic scale tells apart: `minimum` if positive, else maximum · 1e-4.
/// 0 if no positive value is in the range.
[[nodiscard]] double logarithmic_floor(double minimum, double maximum);

/// Where `value` lies in the scale's range, clamped to [0, 1]; no value for NaN.
///   linear                (v − min) / (max − min)
///   logarithmic           ln(v / floor) / ln(max / floor), with floor = logarithmic_floor
///   symmetric_logarithmic s(v) = asinh(v / c), c = max(|min|, |max|) / 1000, between s(min),
///   s(max)
/// A range of no extent puts every value at 0.
[[nodiscard]] std::optional<double> fraction_of(const ColourScale& scale, double value);

/// The value that lies at `fraction` of the scale's range: the inverse of fraction_of.
[[nodiscard]] double value_at(const ColourScale& scale, double fraction);

/// The colours of a scale. Diverging ones have their middle at 0 wherever 0 lies inside the range
/// (not of a logarithmic scale), and are as strong on one side of it as on the other: a range from
/// −1 to 4 ends in a quarter of the blue.
class ScaleColours {
 public:
  /// Throws Error(usage) for a colour map that is none.
  explicit ScaleColours(const ColourScale& scale);
  /// Where in the colour map the `fraction` of the range lies (fraction_of): 0 to 1.
  [[nodiscard]] double position(double fraction) const;
  [[nodiscard]] Colour operator()(double fraction) const {
    return colour_at(*map_, position(fraction));
  }
  [[nodiscard]] const ColourMap& map() const { return *map_; }
  /// What position() makes of a fraction f: 1/2 + (f − zero) · slope, unless reversed.
  [[nodiscard]] double zero() const { return zero_; }
  [[nodiscard]] double slope() const { return slope_; }

 private:
  const ColourMap* map_;
  double zero_ = 0.5, slope_ = 1;
  bool reversed_;
};

/// What a cell without a value (NaN) is drawn in: a light grey that no colour map holds.
inline constexpr Colour no_value_colour{229, 229, 229, 255};

}  // namespace attnscope
