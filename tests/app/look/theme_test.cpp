// Readable colours: texts and links of every theme on everything that they stand on.
#include "app/look/theme.h"

#include <QApplication>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextFragment>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "app/widgets/markdown_page.h"
#include "tests/app/support/session_fixture.h"

namespace attnscope {
namespace {

constexpr double kLeastContrast = 4.5;  // WCAG 2.1, level AA

double luminance(const QColor& colour) {
  const auto linear = [](double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
         0.0722 * linear(colour.blueF());
}

/// The contrast ratio of WCAG 2.1, 1 to 21.
double contrast(const QColor& one, const QColor& other) {
  const auto [low, high] = std::minmax({luminance(one), luminance(other)});
  return (high + 0.05) / (low + 0.05);
}

TEST(Theme, MeasuresContrastAsTheStandardDoes) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-6);
  EXPECT_NEAR(contrast(QColor(0x777777), Qt::white), 4.48, 0.01);
}

class EveryLook : public testing::TestWithParam<Look> {
 protected:
  void SetUp() override { apply_theme(*qApp, GetParam()); }
  void TearDown() override { apply_theme(*qApp, {}); }
};

TEST_P(EveryLook, HasReadableTexts) {
  const QWidget widget;
  const WindowColours& colours = colours_of(widget);
  ASSERT_EQ(colours.theme, GetParam().theme);
  for (const QColor& text : {colours.text, colours.muted, colours.accent, colours.warning,
                             colours.error, colours.ready}) {
    for (const QColor& ground :
         {colours.window, colours.panel, colours.raised, colours.sunken, colours.selected}) {
      EXPECT_GE(contrast(text, ground), kLeastContrast)
          << text.name().toStdString() << " on " << ground.name().toStdString();
    }
  }
  EXPECT_GE(contrast(colours.on_accent, colours.accent), kLeastContrast);
}

/// The colour of the first link in the document; invalid if there is none.
QColor link_colour(const QTextDocument& document) {
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextCharFormat format = part.fragment().charFormat();
      if (format.isAnchor()) return format.foreground().color();
    }
  }
  return {};
}

TEST_P(EveryLook, KeepsLinksReadableAfterAChangeOfTheme) {
  apply_theme(*qApp, {.theme = GetParam().theme == Theme::dark ? Theme::light : Theme::dark});
  MarkdownPage page;
  page.show_text("A panel: [Cumulative spectrum](panel:spectrum).");
  page.show();
  apply_theme(*qApp, GetParam());
  const WindowColours& colours = colours_of(page);
  // Style sheets may reach the page only with the next events.
  EXPECT_TRUE(wait_until([&] { return link_colour(*page.document()) == colours.accent; }, 5));
  for (const QColor& ground : {colours.panel, colours.raised}) {
    EXPECT_GE(contrast(link_colour(*page.document()), ground), kLeastContrast);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryLook,
                         testing::Values(Look{.theme = Theme::dark}, Look{.theme = Theme::light},
                                         Look{.theme = Theme::dark, .high_contrast = true},
                                         Look{.theme = Theme::light, .high_contrast = true}));

}  // namespace
}  // namespace attnscope
