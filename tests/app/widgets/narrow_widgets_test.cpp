// Widgets that make the best of a narrow place.
#include <QMenu>
#include <QTest>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/widgets/elided_combo_box.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {
namespace {

TEST(Segments, FoldIntoAMenuThatChooses) {
  QWidget place;  // a window would keep to the width of the row
  Segments segments(&place);
  QList<QToolButton*> buttons;
  for (const char* name : {"Row", "Column", "Distance"}) {
    buttons << segment_button(name, name, name, "middle");
    segments.add(buttons.back());
  }
  buttons[0]->setChecked(true);
  buttons[2]->hide();
  segments.resize(segments.sizeHint());
  place.show();
  QTest::qWait(50);
  auto* const folded = segments.findChild<QToolButton*>("segments_menu");
  EXPECT_TRUE(buttons[0]->isVisible());
  EXPECT_FALSE(folded->isVisible());
  EXPECT_LT(segments.minimumSizeHint().width(), segments.sizeHint().width());
  segments.resize(segments.minimumSizeHint());
  QTest::qWait(50);
  EXPECT_FALSE(buttons[0]->isVisible());
  ASSERT_TRUE(folded->isVisible());
  EXPECT_EQ(folded->text(), "Row");
  emit folded->menu()->aboutToShow();
  ASSERT_EQ(folded->menu()->actions().size(), 2) << "without the hidden one";
  folded->menu()->actions()[1]->trigger();
  EXPECT_TRUE(buttons[1]->isChecked());
  EXPECT_EQ(folded->text(), "Column");
}

TEST(ElidedComboBox, ShortensItsEntryNotItsText) {
  ElidedComboBox list(4);
  list.addItems({"a", "What the model would answer after each layer"});
  list.setCurrentIndex(1);
  list.resize(list.sizeHint());
  EXPECT_EQ(list.shown_text(), list.currentText());
  list.resize(list.minimumSizeHint());
  EXPECT_LT(list.width(), list.sizeHint().width() / 2);
  EXPECT_TRUE(list.shown_text().startsWith("W"));
  EXPECT_TRUE(list.shown_text().contains("…"));
  EXPECT_EQ(list.shown_text().back(), list.currentText().back()) << "names differ at their ends";
  EXPECT_TRUE(list.currentText().endsWith("layer"));
}

TEST(WrappedLabel, NeedsTheHeightOfItsLines) {
  WrappedLabel label("One line where there is room, and several lines where there is none.");
  label.resize(600, 20);
  label.show();
  const int wide = label.minimumSizeHint().height();
  label.resize(120, 20);
  EXPECT_GT(label.minimumSizeHint().height(), 2 * wide);
}

}  // namespace
}  // namespace attnscope
