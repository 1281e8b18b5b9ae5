#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/figure/heat_scale.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

Figure map_figure(double least, double greatest, double height_mm) {
  Figure figure;
  figure.panels.resize(1);
  figure.height_mm = height_mm;
  figure.colour_scales.push_back({.label = "weight", .minimum = least, .maximum = greatest});
  return figure;
}

TEST(FilmFigures, ShareTheScaleThatSpansThemAndTheGreatestHeight) {
  std::vector<Figure> figures{map_figure(0.1, 0.5, 20), map_figure(0, 0.3, 22),
                              map_figure(0.2, 0.9, 21)};
  make_alike(figures);
  for (const Figure& figure : figures) {
    EXPECT_EQ(figure.colour_scales.at(0).minimum, 0);
    EXPECT_EQ(figure.colour_scales.at(0).maximum, 0.9);
    EXPECT_EQ(figure.height_mm, 22);
  }
}

TEST(FilmFigures, RefuseMissingMapsAndDifferentPanels) {
  const auto why = [](std::vector<Figure> figures) {
    return error_of([&figures] {
      make_alike(figures);
      return 0;
    });
  };
  const Figure map = map_figure(0, 1, 20);
  EXPECT_THAT(why(std::vector<Figure>(2)), HasSubstr("a film needs a figure with a colour scale"));
  Figure two_panels = map;
  two_panels.panels.resize(2);
  EXPECT_THAT(why({map, two_panels}),
              HasSubstr("must have the same layout (expected 1 panels, found 2)"));
  Figure two_scales = map;
  two_scales.colour_scales.resize(2);
  EXPECT_THAT(why({map, two_scales}),
              HasSubstr("must have the same layout (expected 1 colour scales, found 2)"));
  EXPECT_EQ(why({map, map}), "");
}

}  // namespace
}  // namespace attnscope
