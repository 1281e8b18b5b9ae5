#include "analysis/figure/colour_map.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// CIE lightness L* of an sRGB colour, 0 to 100: independent of the colour space in which the maps
/// are built.
double lightness(const Colour& colour) {
  const auto linear = [](std::uint8_t byte) {
    const double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double y =
      0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

void expect_colour(const Colour& found, int red, int green, int blue, int tolerance) {
  EXPECT_NEAR(found.red, red, tolerance);
  EXPECT_NEAR(found.green, green, tolerance);
  EXPECT_NEAR(found.blue, blue, tolerance);
}

// Entries of the published tables that are not control points (index not divisible by 3).
TEST(ColourMap, AgreesWithThePublishedTables) {
  expect_colour(find_colour_map("viridis").colours[128], 33, 145, 140, 2);
  expect_colour(find_colour_map("viridis").colours[200], 112, 207, 87, 2);
  expect_colour(find_colour_map("magma").colours[128], 183, 55, 121, 2);
  expect_colour(find_colour_map("cividis").colours[20], 0, 48, 112, 2);
}

TEST(ColourMap, LightnessOfSequentialMapsOnlyRises) {
  for (const ColourMap& map : colour_maps()) {
    if (map.diverging) continue;
    for (std::size_t index = 3; index < 256; ++index) {
      EXPECT_GE(lightness(map.colours[index]), lightness(map.colours[index - 3]) - 0.3)
          << map.name << " " << index;
    }
    EXPECT_GT(lightness(map.colours[255]) - lightness(map.colours[0]), 70) << map.name;
  }
}

TEST(ColourMap, DivergingIsLightInTheMiddleAndEquallyDarkOnBothSides) {
  const ColourMap& map = find_colour_map("diverging");
  EXPECT_GT(lightness(map.colours[127]), 94);
  for (std::size_t index = 0; index < 128; ++index) {
    EXPECT_NEAR(lightness(map.colours[index]), lightness(map.colours[255 - index]), 5) << index;
  }
  EXPECT_GT(map.colours[0].blue, map.colours[0].red);
  EXPECT_GT(map.colours[255].red, map.colours[255].blue);
}

TEST(ColourMap, UnknownNameListsTheKnownOnes) {
  const Error error = refusal_of([&] { (void)find_colour_map("jet"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find("viridis, magma"), std::string::npos);
}

TEST(ColourMap, ReversedIsTheMapBackwards) {
  const ColourMap& map = find_colour_map("magma");
  for (const double fraction : {0.0, 0.2, 1.0}) {
    const Colour forward = colour_at(map, fraction);
    const Colour backward = colour_at(map, 1 - fraction, true);
    expect_colour(forward, backward.red, backward.green, backward.blue, 0);
  }
}

TEST(ColourScale, FractionAndValueAreInverse) {
  for (const ScaleNorm norm :
       {ScaleNorm::linear, ScaleNorm::logarithmic, ScaleNorm::symmetric_logarithmic}) {
    ColourScale scale;
    scale.minimum = norm == ScaleNorm::symmetric_logarithmic ? -3 : 1e-3;
    scale.maximum = 2;
    scale.norm = norm;
    EXPECT_DOUBLE_EQ(*fraction_of(scale, scale.minimum), 0);
    EXPECT_DOUBLE_EQ(*fraction_of(scale, scale.maximum), 1);
    for (const double fraction : {0.1, 0.5, 0.77}) {
      EXPECT_NEAR(*fraction_of(scale, value_at(scale, fraction)), fraction, 1e-12);
    }
  }
}

TEST(ColourScale, GivesNaNNoColourAndKeepsFractionsInRange) {
  ColourScale scale;
  EXPECT_FALSE(fraction_of(scale, std::nan("")).has_value());
  EXPECT_EQ(fraction_of(scale, 7), 1);
  EXPECT_EQ(fraction_of(scale, -std::numeric_limits<double>::infinity()), 0);
  scale.norm = ScaleNorm::logarithmic;
  EXPECT_EQ(fraction_of(scale, 0), 0);
  EXPECT_NEAR(*fraction_of(scale, 1e-2), 0.5, 1e-12);  // the floor is 1e-4 of the maximum
  scale.maximum = 0;
  EXPECT_EQ(fraction_of(scale, 0), 0);
}

TEST(ColourScale, SymmetricLogarithmHasZeroInTheMiddle) {
  ColourScale scale;
  scale.minimum = -5;
  scale.maximum = 5;
  scale.norm = ScaleNorm::symmetric_logarithmic;
  EXPECT_NEAR(*fraction_of(scale, 0), 0.5, 1e-12);
  EXPECT_GT(*fraction_of(scale, 0.1), 0.7);
}

TEST(ColourScale, CentresDivergingColoursAtZeroInAsymmetricRanges) {
  const ColourMap& map = find_colour_map("diverging");
  for (const ScaleNorm norm : {ScaleNorm::linear, ScaleNorm::symmetric_logarithmic}) {
    ColourScale scale{.label = {}, .colour_map = "diverging", .minimum = -1, .maximum = 4};
    scale.norm = norm;
    ColourScale even = scale;
    even.minimum = -4;
    const ScaleColours colours(scale);
    for (const double value : {-1.0, -0.3, 0.0, 0.5, 4.0}) {
      EXPECT_NEAR(colours.position(*fraction_of(scale, value)), *fraction_of(even, value), 1e-12)
          << value;
    }
    scale.reversed = true;
    EXPECT_NEAR(ScaleColours(scale).position(1), 0, 1e-12);
  }
  const Colour neutral =
      ScaleColours({.label = {}, .colour_map = "diverging", .minimum = -1, .maximum = 4})(0.2);
  expect_colour(neutral, map.colours[127].red, map.colours[127].green, map.colours[127].blue, 2);
  // Other colour maps, and ranges without 0, use the whole colour map.
  EXPECT_EQ(ScaleColours({.label = {}, .colour_map = "viridis", .minimum = -1, .maximum = 4})
                .position(0.3),
            0.3);
  EXPECT_EQ(ScaleColours({.label = {}, .colour_map = "diverging", .minimum = 1, .maximum = 4})
                .position(0),
            0);
}

}  // namespace
}  // namespace attnscope
