#include "app/widgets/formula/formula.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextEdit>
#include <QTextFragment>
#include <QTextLayout>
#include <gtest/gtest.h>

#include "app/widgets/formula/formula_text.h"
#include "app/widgets/markdown_page.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

QFont type(double points) {
  QFont font("Inter");
  font.setPointSizeF(points);
  return font;
}

std::string formula_refusal(const char* tex) {
  return error_of([&] { (void)Formula(tex); });
}

TEST(Formula, RefusesUnknownCommands) {
  EXPECT_NE(formula_refusal("\\fracc{a}{b}").find("\\fracc"), std::string::npos);
  EXPECT_NE(formula_refusal("\\frac{a}{b").find("the closing sign is missing"), std::string::npos);
  EXPECT_NE(formula_refusal("a}").find("unmatched closing sign"), std::string::npos);
  EXPECT_NE(formula_refusal("_1").find("an index has no base"), std::string::npos);
  EXPECT_NE(formula_refusal("a_1_2").find("two indices"), std::string::npos);
  EXPECT_EQ(formula_refusal("\\left( \\frac{\\sqrt{d_a}}{2} \\right)"), "");
}

TEST(Formula, HasWordsForScreenReaders) {
  EXPECT_EQ(Formula("f(r) = \\frac{\\sigma_1}{\\sqrt{d_a}}").words(), "f(r) = (σ_1) / (√(d_a))");
  EXPECT_EQ(Formula("x^{2} - \\|y\\|_1").words(), "x^2 − ‖y‖_1");
}

// An em is 100 pixels, so that every part of a formula has many.
TEST(Formula, PutsPartsWhereTheyBelong) {
  const QFont font = type(75);
  const auto of = [&](const char* tex, bool display = false) {
    return Formula(tex, display).extents(font);
  };
  const auto letter = of("x"), index = of("x_1"), exponent = of("x^2");
  EXPECT_GT(index.descent, letter.descent + 5) << "an index hangs under the line";
  EXPECT_GT(exponent.ascent, letter.ascent + 5) << "an exponent stands over it";
  EXPECT_LT(of("x_1^2").width, index.width + exponent.width - letter.width) << "one over the other";
  const auto fraction = of("\\frac{x}{x}", true), small = of("\\frac{x}{x}");
  EXPECT_GT(fraction.ascent + fraction.descent, 2 * (letter.ascent + letter.descent));
  EXPECT_LT(small.ascent + small.descent, fraction.ascent + fraction.descent);
  EXPECT_GT(of("\\left( \\frac{x}{x} \\right)", true).ascent, fraction.ascent);
  EXPECT_GT(of("\\sqrt{x}").ascent, letter.ascent);
  EXPECT_GT(of("a - b").width, of("a").width + of("-").width + of("b").width + 20);
  EXPECT_LT(of("-b").width, of("-").width + of("b").width + 10) << "a sign, not a difference";
}

TEST(Formula, SetsLettersOfAnIndexAsCloseAsThoseOfAWord) {
  const QFont font = type(75);
  const auto wide = [&](const char* tex) { return Formula(tex).extents(font).width; };
  const double base = wide("A"), pair = wide("A_{ij}") - base;
  const double apart = wide("A_i") + wide("A_j") - 2 * base;
  EXPECT_LT(pair, apart + 5) << "no space between i and j";
  EXPECT_LT(wide("d_a") - wide("d"), 0.72 * wide("a") + 8) << "the index stands at its base";
}

TEST(Formula, GrowsWithTheType) {
  const Formula formula("A = \\frac{\\sum_{i=1}^r \\sigma_i}{\\sqrt{N}}", true);
  const auto small = formula.extents(type(10)), large = formula.extents(type(40));
  EXPECT_NEAR(large.width / small.width, 4, 0.25);
  EXPECT_NEAR(large.ascent / small.ascent, 4, 0.4);
}

/// The bounding rectangle of visible pixels; empty if there are none.
QRect ink_of(const QImage& image) {
  QRect ink;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (qAlpha(image.pixel(x, y)) > 40) ink |= QRect(x, y, 1, 1);
    }
  }
  return ink;
}

TEST(Formula, DrawsNothingOutsideItsExtents) {
  for (const char* tex : {"f", "j_j", "\\sqrt{\\frac{d_a}{g}}", "\\sum_{l \\le i}^N e_l x_l",
                          "\\|q_i - k_j\\|_1^2", "\\left( \\frac{\\sqrt{d}}{2} \\right)",
                          "\\text{output}_i = \\exp(K_j)", "H H^\\top + 2^c"}) {
    for (const bool display : {false, true}) {
      for (const double points : {9.0, 24.0}) {
        const Formula formula(tex, display);
        const auto extents = formula.extents(type(points));
        QImage image(600, 300, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        formula.draw(painter, {100, 150}, type(points), Qt::black);
        painter.end();
        const QRect ink = ink_of(image);
        ASSERT_FALSE(ink.isEmpty()) << tex;
        EXPECT_GE(ink.left(), 100 - 2) << tex;
        EXPECT_LE(ink.right(), 100 + extents.width + 2) << tex;
        EXPECT_GE(ink.top(), 150 - extents.ascent - 2) << tex;
        EXPECT_LE(ink.bottom(), 150 + extents.descent + 2) << tex;
      }
    }
  }
}

TEST(FormulaText, StandsAmongTheWords) {
  QTextEdit view;
  show_markdown(view, "## Of $\\sqrt{d}$\n\nIt is `$5` and \\$6, **not** $a_1$:\n\n$$x = 1$$\n");
  EXPECT_EQ(plain_words(*view.document()), "Of √d\nIt is $5 and $6, not a_1:\nx = 1");
  EXPECT_THROW(show_markdown(view, "a $b"), Error);
  EXPECT_THROW(show_markdown(view, "a $\\nothing$"), Error);
}

TEST(FormulaText, LeavesTheDistanceOfLinesOfWords) {
  MarkdownPage page;
  page.setFont(type(9.5));
  page.show_text(
      "Row $i$ says how much token $i$ takes from $j$: the weight $A_{ij}$, with the scale $d_a$ "
      "of the keys, the row $v_1^\\top$ and the exponentials $\\exp(K_j + w_{ij})$ of the sum.");
  page.resize(240, 100);
  page.show();
  const QTextLayout& lines = *page.document()->begin().layout();
  const double words = QFontMetricsF(type(9.5)).height();
  ASSERT_GT(lines.lineCount(), 3);
  for (int i = 0; i < lines.lineCount(); ++i) {
    EXPECT_NEAR(lines.lineAt(i).height(), words, 1.5) << "line " << i;
  }
}

TEST(FormulaText, ShrinksAWideFormulaInNarrowSpace) {
  MarkdownPage page;
  page.setFont(type(12));
  page.show_text(
      "$$A = \\sigma_1 u_1 v_1^\\top + \\sigma_2 u_2 v_2^\\top + \\sigma_3 u_3 v_3^\\top$$");
  page.resize(200, 100);
  page.show();
  EXPECT_LE(page.document()->idealWidth(), page.viewport()->width());
  const double narrow = page.document()->size().height();
  page.resize(800, 100);
  EXPECT_GT(page.document()->size().height(), narrow);
}

TEST(MarkdownPage, IsAsTallAsItsText) {
  MarkdownPage page;
  page.show_text("Words that are long enough for several lines, and a formula: $\\frac{a}{b}$.");
  page.show();
  for (const int width : {120, 300, 900}) {
    page.resize(width, page.height());
    EXPECT_GE(page.viewport()->height(), page.document()->size().height()) << width;
    EXPECT_LE(page.viewport()->height(), page.document()->size().height() + 2) << width;
  }
}

}  // namespace
}  // namespace attnscope
