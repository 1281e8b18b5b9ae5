#include "analysis/figure/film.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

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

TEST(FilmFigures, WithoutMapsOrWithOtherPanelsAreRefused) {
  std::vector<Figure> lines(2);
  EXPECT_THROW(make_alike(lines), Error);
  std::vector<Figure> differ{map_figure(0, 1, 20), map_figure(0, 1, 20)};
  differ[1].panels.resize(2);
  EXPECT_THROW(make_alike(differ), Error);
}

}  // namespace
}  // namespace attnscope
