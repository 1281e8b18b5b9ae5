// Undo, the command palette, preferences, layouts, presentation and the manual, under keys and
// clicks.
#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QTreeWidget>
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "app/window/manual_window.h"
#include "app/window/notice_bar.h"
#include "app/window/palette_dialog.h"
#include "app/window/preferences.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

TEST_F(WindowTest, UndoRestoresAClosedModel) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 2, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  session().close(id(0));
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_EQ(session().subjects().size(), 1U);
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_TRUE(session().subjects().empty());
}

TEST_F(WindowTest, ThePaletteFindsAndRuns) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 2, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  on_dialog([](QDialog& dialog) {
    auto* words = dialog.findChild<QLineEdit*>("palette_words");
    ASSERT_NE(words, nullptr);
    QTest::keyClicks(words, "toggle ident");
    auto* list = dialog.findChild<QTreeWidget*>("palette_list");
    ASSERT_GT(list->topLevelItemCount(), 0);
    EXPECT_EQ(list->topLevelItem(0)->text(0), "View");
    EXPECT_TRUE(list->currentItem()->text(0).contains("Toggle identity"));
    EXPECT_EQ(list->currentItem()->text(1), "I");
    QTest::keyClick(words, Qt::Key_Return);
  });
  press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(session().view().identity, IdentityView::with);
}

TEST_F(WindowTest, ThePaletteListsEachPanelOnceUnderAHeading) {
  on_dialog([](QDialog& dialog) {
    auto* words = dialog.findChild<QLineEdit*>("palette_words");
    auto* list = dialog.findChild<QTreeWidget*>("palette_list");
    QTest::keyClicks(words, "sweep");
    int found = 0;
    for (int i = 0; i < list->topLevelItemCount(); ++i) {
      const QTreeWidgetItem* const heading = list->topLevelItem(i);
      for (int row = 0; row < heading->childCount(); ++row) {
        if (heading->child(row)->text(0) != "Sweep") continue;
        EXPECT_EQ(heading->text(0), "Experiments");
        ++found;
      }
    }
    EXPECT_EQ(found, 1);
    words->clear();
    const QTreeWidgetItem* const first = list->currentItem();
    for (int step = 0; step < 40; ++step) {
      QTest::keyClick(words, Qt::Key_Down);
      EXPECT_NE(list->currentItem()->parent(), nullptr) << "a heading cannot be chosen";
    }
    EXPECT_NE(list->currentItem(), first);
    dialog.reject();
  });
  press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
}

TEST(Palette, PutsCloserMatchesFirst) {
  EXPECT_EQ(palette_distance("Fit all maps", "zz"), -1);
  EXPECT_LT(palette_distance("Export figure", "expo"), palette_distance("Explain more", "expo"));
  EXPECT_LT(palette_distance("Open model", "om"), palette_distance("Some model", "om"));
}

TEST_F(WindowTest, PreferencesAreRemembered) {
  on_dialog([](QDialog& dialog) {
    dialog.findChild<QComboBox*>("preferred_theme")->setCurrentIndex(1);
    QTest::mouseClick(dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok),
                      Qt::LeftButton);
  });
  press(Qt::Key_Comma, Qt::ControlModifier);
  EXPECT_EQ(read_preferences().theme, Theme::light);
  EXPECT_EQ(colours_of(window()).theme, Theme::light);
}

TEST_F(WindowTest, PresentationHidesControlsAndRestoresThem) {
  const double size = window().font().pointSizeF();
  press(Qt::Key_F5);
  EXPECT_TRUE(window().isFullScreen());
  EXPECT_FALSE(child<QDockWidget>("models")->isVisible());
  EXPECT_FALSE(child<QDockWidget>("all-maps")->isVisible());
  EXPECT_GT(window().font().pointSizeF(), 1.3 * size);
  press(Qt::Key_Escape);
  EXPECT_FALSE(window().isFullScreen());
  EXPECT_TRUE(child<QDockWidget>("all-maps")->isVisible());
  EXPECT_NEAR(window().font().pointSizeF(), size, 0.01);
}

TEST_F(WindowTest, TheManualOpensOnItsFirstPageAndFindsWords) {
  press(Qt::Key_F1);
  auto* manual = window().findChild<ManualWindow*>();
  ASSERT_NE(manual, nullptr);
  auto* text = manual->findChild<QTextBrowser*>("manual_text");
  EXPECT_TRUE(text->toPlainText().contains("equivalent rank"));
  auto* pages = manual->findChild<QListWidget*>("manual_pages");
  for (int row = 0; row < pages->count(); ++row) {
    pages->setCurrentRow(row);
    EXPECT_GT(text->toPlainText().size(), 100) << pages->item(row)->text().toStdString();
    EXPECT_FALSE(pages->item(row)->text().isEmpty());
    static const QRegularExpression picture(R"(!\[[^\]]+\]\(([^)]+)\))");
    const QString name = pages->item(row)->data(Qt::UserRole).toString();
    QFile page(":/manual/" + name + ".md");
    ASSERT_TRUE(page.open(QIODevice::ReadOnly)) << name.toStdString();
    for (const auto& shown : picture.globalMatch(QString::fromUtf8(page.readAll()))) {
      const QString file = ":/manual/" + shown.captured(1);
      EXPECT_FALSE(QImage(file).isNull()) << file.toStdString();
    }
  }
  manual->show_page("mechanisms");
  EXPECT_TRUE(text->toPlainText().contains("cosformer"));
  EXPECT_FALSE(text->toPlainText().contains("{{"));
  manual->show_page("papers");
  EXPECT_TRUE(text->toPlainText().contains("attnscope energy --paper adder:1"));
  manual->findChild<QLineEdit*>("manual_words")->setText("Jensen");
  int shown = 0;
  for (int row = 0; row < pages->count(); ++row) shown += pages->item(row)->isHidden() ? 0 : 1;
  EXPECT_EQ(shown, 1);
}

TEST_F(WindowTest, OffersTheSessionOfACrash) {
  const std::filesystem::path file = folder() / "autosave-999999.json";
  const auto trace = write_sample("maps.h5", sample_trace(2, 2, 2, 1));
  {
    Session before;
    before.open(trace);
    before.save(file);
  }
  window().remember_between_runs(folder());
  auto* open = child<QPushButton>("notice_action");
  ASSERT_TRUE(open->isVisible());
  QTest::mouseClick(open, Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 1U);
  EXPECT_EQ(session().subjects()[0].state, OpenSubject::State::ready);
  EXPECT_FALSE(std::filesystem::exists(file));
}

/// The tab stops of the window in order, up to the first repetition.
std::vector<QWidget*> tab_stops(QWidget& window) {
  std::vector<QWidget*> stops;
  for (int i = 0; i < 300; ++i) {
    QWidget* const from = QApplication::focusWidget();
    QTest::keyClick(from ? from : &window, Qt::Key_Tab);
    QWidget* const stop = QApplication::focusWidget();
    if (!stop || std::ranges::find(stops, stop) != stops.end()) break;
    stops.push_back(stop);
  }
  return stops;
}

TEST_F(WindowTest, EveryTabStopIsVisibleAndShowsItsFocus) {
  for (const char* name : {"one", "two"}) {
    session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 4, 2)), name);
  }
  ASSERT_TRUE(wait_until_settled());
  const std::vector<QWidget*> stops = tab_stops(window());
  EXPECT_GT(stops.size(), 20U);
  for (QWidget* const stop : stops) {
    const auto name = [stop] {
      return std::string(stop->metaObject()->className()) + " " + stop->objectName().toStdString() +
             " " + stop->accessibleName().toStdString();
    };
    stop->setFocus(Qt::TabFocusReason);
    ASSERT_TRUE(wait_until_settled());
    EXPECT_FALSE(stop->visibleRegion().isEmpty()) << name();
    const QImage with = stop->grab().toImage();
    stop->clearFocus();
    ASSERT_TRUE(wait_until_settled());
    EXPECT_FALSE(with == stop->grab().toImage()) << name();
  }
}

}  // namespace
}  // namespace attnscope
