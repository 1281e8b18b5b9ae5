#include "analysis/figure/tex/words.h"

#include <clocale>
#include <gtest/gtest.h>

#include "analysis/figure/tex/text_places.h"

namespace attnscope {
namespace {

TEST(TexText, EscapesAndNamesWhatTexDoesNotHave) {
  EXPECT_EQ(tex_text("50 % of #1_x"), "50 \\% of \\#1\\_x");
  EXPECT_EQ(tex_text("τ ≥ −0.9"), "$\\tau$ $\\ge$ $-$0.9");
  EXPECT_EQ(tex_text("10⁻³"), "10$^{-}$$^{3}$");
  EXPECT_EQ(tex_text("Gärten"), "Gärten");
  EXPECT_EQ(tex_text("two\nlines"), "two\\\\{}lines");
  EXPECT_EQ(tex_text("中"), "\\attnscopeglyph{中}{4E2D}");
  EXPECT_EQ(tex_text("\xff\x01"), "\\attnscopeglyph{?}{FFFD}");  // invalid UTF-8; a control code
}

TEST(TexNumber, HasNoExponentInAnyLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // has no effect if it is not installed
  EXPECT_EQ(tex_number(0.25), "0.25");
  EXPECT_EQ(tex_number(1e-7), "0");
  EXPECT_EQ(tex_number(-1e-7), "0");
  EXPECT_EQ(tex_number(1200000), "1200000");
  EXPECT_EQ(tex_mm(84), "84mm");
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(TextPlaces, AvoidCurvesAndEachOther) {
  TextPlaces places(80, 50, 2);
  places.avoid({0, 45}, {30, 48});
  const TextPlace rule = places.along("τ = 0.9", 45);
  EXPECT_GT(rule.left, 25.5);  // right of the point where the curve leaves the rule
  const TextPlace first = places.beside("r = 7", 20), second = places.beside("r = 8", 21);
  EXPECT_NE(first.bottom, second.bottom);
  // At the right edge a text stands to the left of its point.
  EXPECT_LT(places.beside("r = 9", 79).left, 79 - 2);
}

}  // namespace
}  // namespace attnscope
