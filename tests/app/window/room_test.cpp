// Space in the window: no panel widens it, and a dock that is read makes its own space.
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTabBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/scale_strip.h"
#include "app/panels/components/components_panel.h"
#include "app/panels/frame/dock_panel.h"
#include "app/panels/panels.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/widgets/elided_label.h"
#include "app/window/atlas_cell.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class Room : public WindowTest {
 protected:
  void open_two_at(int width, int height) {
    window().resize(width, height);
    for (const char* name : {"one.h5", "two.h5"}) {
      session().open(write_sample(name, sample_trace(3, 3, 7, 2)));
    }
    ASSERT_TRUE(wait_until([this] { return session().trace(id(0)) && session().trace(id(1)); }));
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] bool open(const char* dock) { return !child<QDockWidget>(dock)->isHidden(); }
  /// Share of the window that visible maps cover.
  [[nodiscard]] double share_of_maps() {
    double pixels = 0;
    for (const AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
      const std::shared_ptr<const Trace> trace = session().trace(canvas->subject());
      if (!trace || !canvas->isVisible()) continue;
      const QRectF seen(canvas->rect());
      for (std::int64_t layer = 0; layer < std::ssize(trace->layers); ++layer) {
        for (std::int64_t head = 0; head < trace->heads(layer); ++head) {
          const QRectF map = canvas->map_rect(layer, head).intersected(seen);
          pixels += map.width() * map.height();
        }
      }
    }
    return pixels / (window().width() * window().height());
  }
  /// Share of the window that the widgets of the maps cover, with their labels.
  [[nodiscard]] double share_of_canvases() {
    double pixels = 0;
    for (const AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
      if (canvas->isVisible()) pixels += canvas->width() * canvas->height();
    }
    return pixels / (window().width() * window().height());
  }
  void open_models(int width, int height, int count = 2) {
    window().resize(width, height);
    for (int i = 0; i < count; ++i) {
      session().add_trace(std::make_shared<const Trace>(sample_trace(6, 3, 4, 1)),
                          "fashion-" + std::to_string(i));
    }
    ASSERT_TRUE(wait_until_still());
  }
};

TEST_F(Room, MakesAPanelBehindATabWhenItIsOpened) {
  open_models(1280, 800);
  EXPECT_NE(window().findChild<SpectrumPanel*>(), nullptr);
  EXPECT_EQ(window().findChild<ComponentsPanel*>(), nullptr);
  const int width = window().width();
  for (QTabBar* tabs : window().findChildren<QTabBar*>()) {
    for (int i = 0; i < tabs->count(); ++i) {
      if (tabs->tabText(i) == ComponentsPanel::kTitle) tabs->setCurrentIndex(i);
    }
  }
  const auto* const components = window().findChild<ComponentsPanel*>();
  ASSERT_NE(components, nullptr);
  EXPECT_TRUE(components->is_seen());
  ASSERT_TRUE(wait_until([&] { return components->figure() != nullptr; }));
  EXPECT_EQ(window().width(), width);
}

TEST_F(Room, TheMapsOfTwoModelsTakeHalfOfASmallWindow) {
  open_models(1280, 800);
  EXPECT_GE(share_of_maps(), 0.5);
  EXPECT_GE(share_of_canvases(), 0.54);
  // The status bar is low, and the numbers of the colour scale are whole in it.
  const auto* const scale = window().findChild<ScaleStrip*>();
  EXPECT_TRUE(scale->parentWidget()->rect().contains(scale->geometry()));
  // The curves, the ranks, the models and the inputs are visible at the same time.
  for (const char* panel : {"spectrum", "all-maps", "models", "inputs"}) {
    EXPECT_FALSE(child<QDockWidget>(panel)->visibleRegion().isEmpty()) << panel;
  }
  EXPECT_GE(child<QWidget>("spectrum_plot")->height(), 140);
  for (const QLabel* ranks : window().findChildren<QLabel*>("mean_ranks")) {
    EXPECT_TRUE(ranks->text().contains("rank")) << ranks->text().toStdString();
    EXPECT_LE(ranks->sizeHint().width(), ranks->width());
  }
}

TEST_F(Room, NarrowTitlesSayTheRankOfTheMapsThatAreShown) {
  open_models(1280, 800);
  auto* const head = window().findChild<AtlasHead*>();
  const auto* const ranks = head->findChild<QLabel*>("mean_ranks");
  for (const char* rank : {"rank <b>", "rank +I <b>"}) {
    head->resize(180, head->height());
    EXPECT_TRUE(ranks->text().startsWith(rank)) << ranks->text().toStdString();
    press(Qt::Key_I);
    ASSERT_TRUE(wait_until_settled());
  }
}

TEST_F(Room, TitlesKeepNameAndRankOfALongName) {
  const std::string name = "vit_base_patch16_clip_quickgelu_224.metaclip_2pt5b_ft_in1k";
  window().resize(1280, 800);
  for (int i = 0; i < 2; ++i) {
    session().add_trace(std::make_shared<const Trace>(sample_trace(6, 3, 4, 1)), name);
  }
  ASSERT_TRUE(wait_until_still());
  for (const AtlasHead* head : window().findChildren<AtlasHead*>()) {
    const auto* const ranks = head->findChild<QLabel*>("mean_ranks");
    EXPECT_TRUE(ranks->text().contains("rank")) << ranks->text().toStdString();
    EXPECT_LE(ranks->sizeHint().width(), ranks->width());
    for (const ElidedLabel* label : head->findChildren<ElidedLabel*>()) {
      if (label->full_text().toStdString() != name) continue;
      EXPECT_GE(label->text().size(), 12) << label->text().toStdString();
      EXPECT_TRUE(label->text().startsWith("vit_")) << label->text().toStdString();
      EXPECT_TRUE(label->text().endsWith("1k")) << label->text().toStdString();
    }
  }
}

TEST_F(Room, KeepsRowsOfLayersInALesson) {
  open_models(1600, 1000);
  window().show_panel("lessons");
  ASSERT_TRUE(wait_until_still());
  for (const AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
    for (std::int64_t layer = 1; layer < 6; ++layer) {
      EXPECT_EQ(canvas->map_rect(layer, 0).left(), canvas->map_rect(0, 0).left());
      EXPECT_GT(canvas->map_rect(layer, 0).top(), canvas->map_rect(layer - 1, 0).bottom());
    }
    EXPECT_GT(canvas->map_rect(0, 1).left(), canvas->map_rect(0, 0).right());
  }
}

class RoomAtSize : public Room, public testing::WithParamInterface<std::tuple<int, int, double>> {};

TEST_P(RoomAtSize, MapsFillTheWindow) {
  const auto [width, height, share] = GetParam();
  open_models(width, height);
  EXPECT_EQ(window().size(), QSize(width, height));
  EXPECT_GE(share_of_maps(), share);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RoomAtSize,
                         testing::Values(std::tuple(1024, 768, 0.40),  //
                                         std::tuple(1280, 720, 0.36),  // 1920 × 1080 at scale 1.5
                                         std::tuple(1600, 1000, 0.45)));

class RoomAtScale : public Room, public testing::WithParamInterface<double> {};

TEST_P(RoomAtScale, LargeTypeLeavesSpaceForMaps) {
  open_models(1280, 800);
  const double share = share_of_maps();
  Preferences preferences;
  preferences.text_scale = GetParam();
  window().set_preferences(preferences);
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(window().size(), QSize(1280, 800));
  EXPECT_GE(share_of_maps(), 0.45);
  EXPECT_FALSE(open("models"));
  // A key opens the hidden dock, and smaller letters restore it.
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_TRUE(open("models"));
  press(Qt::Key_B, Qt::ControlModifier);
  window().set_preferences({});
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(open("models"));
  EXPECT_NEAR(share_of_maps(), share, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Letters, RoomAtScale, testing::Values(1.15, 1.25, 1.5, 2.0));

TEST_F(Room, RearrangesMapsWhenTheWindowChanges) {
  open_models(1280, 800);
  const double share = share_of_maps();
  press(Qt::Key_B, Qt::ControlModifier);
  press(Qt::Key_J, Qt::ControlModifier);
  for (const QSize size : {QSize(1500, 420), QSize(1000, 900), QSize(1600, 500)}) {
    window().resize(size);
    ASSERT_TRUE(wait_until_still());
    EXPECT_GE(share_of_maps(), 0.45) << size.width() << " × " << size.height();
  }
  window().resize(1280, 800);
  press(Qt::Key_B, Qt::ControlModifier);
  press(Qt::Key_J, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_still());
  EXPECT_NEAR(share_of_maps(), share, 0.01);
}

TEST_F(Room, TheLensIsOpenedOnDemand) {
  open_models(1280, 800);
  const double closed = share_of_maps();
  press(Qt::Key_L);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_LT(share_of_maps(), closed);
  press(Qt::Key_L);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(share_of_maps(), closed);
}

TEST_F(Room, AFileThatFailedIsACardNotAQuarter) {
  open_models(1280, 800);
  const double share = share_of_maps();
  std::ofstream(folder() / "bad.safetensors") << "this is no checkpoint";
  window().open_file(folder() / "bad.safetensors");
  ASSERT_TRUE(wait_until_still());
  EXPECT_GE(share_of_maps(), 0.75 * share);
  bool told = false;
  for (const QLabel* label : window().centralWidget()->findChildren<QLabel*>()) {
    told |= label->isVisible() && label->text().contains("bad.safetensors");
  }
  EXPECT_TRUE(told);
  for (QPushButton* button : window().centralWidget()->findChildren<QPushButton*>()) {
    if (button->isVisible() && button->text() == "Close") {
      QTest::mouseClick(button, Qt::LeftButton);
    }
  }
  ASSERT_TRUE(wait_until([this] { return session().subjects().size() == 2; }));
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(share_of_maps(), share);
}

TEST_F(Room, SideBarsCanBeHiddenAndShown) {
  open_models(1280, 800);
  const double share = share_of_maps();
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_FALSE(open("models"));
  press(Qt::Key_J, Qt::ControlModifier);
  EXPECT_FALSE(open("spectrum"));
  ASSERT_TRUE(wait_until_still());
  EXPECT_GE(share_of_maps(), share);
  press(Qt::Key_B, Qt::ControlModifier);
  press(Qt::Key_J, Qt::ControlModifier);
  EXPECT_TRUE(open("models"));
  EXPECT_TRUE(open("inputs"));
  EXPECT_TRUE(open("spectrum"));
  EXPECT_FALSE(open("sweep"));
}

TEST_F(Room, HidingAReadingDockRestoresTheLayoutExactly) {
  for (const QSize size : {QSize(1280, 800), QSize(1600, 1000)}) {
    window().resize(size);
    if (session().subjects().empty()) open_models(size.width(), size.height());
    ASSERT_TRUE(wait_until_still());
    std::vector<QRect> before;
    const char* const docks[] = {"models", "inputs", "spectrum", "row", "all-maps"};
    for (const char* dock : docks) before.push_back(child<QDockWidget>(dock)->geometry());
    for (const char* panel : {"sweep", "playground"}) {
      window().show_panel(panel);
      ASSERT_TRUE(wait_until_still());
      child<QDockWidget>(panel)->close();
      ASSERT_TRUE(wait_until_still());
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(child<QDockWidget>(docks[i])->geometry(), before[i])
            << docks[i] << " after " << panel << " at " << size.width();
      }
    }
  }
}

TEST_F(Room, ADoubleClickOnItsTitleMakesAPanelTheWholeWindow) {
  open_models(1280, 800);
  auto* dock = child<QDockWidget>("spectrum");
  const QRect before = dock->geometry();
  QTest::mouseDClick(dock->titleBarWidget(), Qt::LeftButton, {}, QPoint(30, 12));
  ASSERT_TRUE(wait_until_still());
  EXPECT_FALSE(window().centralWidget()->isVisible());
  EXPECT_FALSE(open("all-maps"));
  EXPECT_EQ(window().size(), QSize(1280, 800));
  EXPECT_GE(dock->width() * dock->height(), 0.9 * 1280 * 800);
  QTest::mouseDClick(dock->titleBarWidget(), Qt::LeftButton, {}, QPoint(30, 12));
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(window().centralWidget()->isVisible());
  EXPECT_TRUE(open("all-maps"));
  EXPECT_FALSE(open("sweep"));
  EXPECT_EQ(dock->geometry(), before);
}

TEST_F(Room, AKeyEnlargesThePanelThatHasTheKeys) {
  open_models(1280, 800);
  child<QWidget>("rank_table")->setFocus();
  press(Qt::Key_M);
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(open("all-maps"));
  EXPECT_FALSE(open("spectrum"));
  press(Qt::Key_Escape);
  EXPECT_TRUE(open("spectrum"));
}

TEST_F(Room, OneModelFillsTheWindowAndNumbersSwitch) {
  open_models(1280, 800, 3);
  const double share = share_of_maps();
  for (AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
    if (canvas->subject() == id(0)) canvas->setFocus();
  }
  press(Qt::Key_M);
  ASSERT_TRUE(wait_until_still());
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(open("spectrum"));
  for (const auto& [key, place] :
       {std::pair(Qt::Key_2, 1U), std::pair(Qt::Key_3, 2U), std::pair(Qt::Key_1, 0U)}) {
    press(key);
    ASSERT_TRUE(wait_until_still());
    for (const AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
      EXPECT_EQ(canvas->isVisible(), canvas->subject() == id(place)) << place;
    }
    EXPECT_GT(share_of_maps(), 0.6) << place << ", of canvases " << share_of_canvases();
  }
  press(Qt::Key_M);
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(open("models"));
  EXPECT_NEAR(share_of_maps(), share, 1e-9);
}

TEST_F(Room, AReferenceAndASweepFitTogether) {
  open_models(1280, 800);
  session().set_reference(id(0));
  ViewSettings view = session().view();
  view.comparison = ComparisonView::wipe;
  session().set_view(view);
  window().show_panel("sweep");
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(window().size(), QSize(1280, 800));
  window().resize(1600, 1000);
  window().show_panel("energy");
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(window().size(), QSize(1600, 1000));
}

TEST_F(Room, NoPanelWidensTheWindow) {
  open_two_at(1280, 800);
  session().set_reference(id(0));
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(window().width(), 1280) << "with a reference";
  for (const PanelEntry& entry : panels()) {
    window().show_panel(entry.name);
    ASSERT_TRUE(wait_until_still());
    EXPECT_EQ(window().width(), 1280) << entry.name;
    EXPECT_EQ(window().height(), 800) << entry.name;
  }
}

class RoomOfPanels : public Room, public testing::WithParamInterface<std::pair<int, int>> {};

INSTANTIATE_TEST_SUITE_P(Sizes, RoomOfPanels,
                         testing::Values(std::pair(1024, 768), std::pair(1180, 768)));

TEST_P(RoomOfPanels, NothingWidensASmallWindow) {
  const auto [width, height] = GetParam();
  open_two_at(width, height);
  session().set_reference(id(0));
  for (const PanelEntry& entry : panels()) {
    window().show_panel(entry.name);
    ASSERT_TRUE(wait_until_still());
    EXPECT_EQ(window().size(), QSize(width, height)) << entry.name;
    EXPECT_FALSE(child<QDockWidget>(entry.name)->visibleRegion().isEmpty()) << entry.name;
  }
}

TEST_F(Room, ShowsReadingDocksWholeInASmallWindow) {
  open_two_at(1024, 768);
  window().show_panel("lessons");
  ASSERT_TRUE(wait_until_still());
  EXPECT_GE(child<QDockWidget>("lessons")->width(), 400);
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(open("spectrum"));
  for (const QScrollArea* area : child<QDockWidget>("lessons")->findChildren<QScrollArea*>()) {
    if (!area->isVisible()) continue;
    EXPECT_LE(area->widget()->width(), area->viewport()->width()) << "cut at the right";
  }
  child<QDockWidget>("lessons")->close();
  EXPECT_TRUE(open("spectrum"));
  EXPECT_FALSE(open("models")) << "the maps need the room";
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_TRUE(open("models"));
}

TEST_F(Room, TheToolBarLosesWordsBeforeButtons) {
  auto* bar = child<QToolBar>("top_bar");
  for (const int width : {1600, 1280, 1024}) {
    window().resize(width, 768);
    if (width == 1280) open_two_at(width, 768);  // shows the reference, too
    ASSERT_TRUE(wait_until_still());
    ASSERT_EQ(bar->width(), width);
    int buttons = 0;
    for (const QAction* action : bar->actions()) {
      const QWidget* widget = bar->widgetForAction(const_cast<QAction*>(action));
      if (qobject_cast<const QToolButton*>(widget) == nullptr) continue;
      ++buttons;
      EXPECT_TRUE(widget->isVisible()) << width << ": " << widget->accessibleName().toStdString();
      EXPECT_LE(widget->geometry().right(), width) << widget->accessibleName().toStdString();
    }
    EXPECT_GE(buttons, 5);
  }
}

TEST_F(Room, PresentationKeepsTheSize) {
  window().resize(1600, 1000);
  open_two_at(1600, 1000);
  press(Qt::Key_F2);
  press(Qt::Key_F5);
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(window().size(), QSize(1600, 1000));
}

/// Places of the docks that are in front.
std::map<std::string, QRect> seen_docks(const MainWindow& window) {
  std::map<std::string, QRect> places;
  for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) {
    if (dock->visibleRegion().isEmpty()) continue;
    places[dock->objectName().toStdString()] = dock->geometry();
  }
  return places;
}

TEST_F(Room, LeavingAPresentationRestoresEveryPlace) {
  for (const QSize size : {QSize(1280, 800), QSize(1024, 768), QSize(1600, 1000)}) {
    window().resize(size);
    if (session().subjects().empty()) open_models(size.width(), size.height());
    ASSERT_TRUE(wait_until_still());
    const auto before = seen_docks(window());
    press(Qt::Key_F5);
    ASSERT_TRUE(wait_until_still());
    EXPECT_FALSE(open("models"));
    press(Qt::Key_F5);
    ASSERT_TRUE(wait_until_still());
    EXPECT_EQ(window().size(), size);
    EXPECT_EQ(seen_docks(window()), before) << size.width();
  }
}

class PresentedLesson : public Room, public testing::WithParamInterface<bool> {};

// The lesson and the maps have the window, whichever of F2 and F5 is pressed first.
TEST_P(PresentedLesson, SharesTheRoomWithTheMaps) {
  open_models(1280, 800, 1);
  const auto before = seen_docks(window());
  const bool lesson_first = GetParam();
  press(lesson_first ? Qt::Key_F2 : Qt::Key_F5);
  ASSERT_TRUE(wait_until_still());
  const auto between = seen_docks(window());
  press(lesson_first ? Qt::Key_F5 : Qt::Key_F2);
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(seen_docks(window()).size(), 1U) << "only the lesson";
  const QDockWidget* const lesson = child<QDockWidget>("lessons");
  EXPECT_GE(lesson->width(), 0.33 * window().width());
  EXPECT_LE(lesson->width(), 0.5 * window().width());
  EXPECT_GE(window().centralWidget()->width(), 0.45 * window().width());
  for (const QScrollArea* area : lesson->findChildren<QScrollArea*>()) {
    if (!area->isVisible()) continue;
    EXPECT_LE(area->widget()->width(), area->viewport()->width()) << "cut at the right";
  }
  // The panel that the lesson speaks of comes, and goes when it speaks of another.
  for (const char* panel : {"spectrum", "query"}) {
    window().show_panel(panel);
    ASSERT_TRUE(wait_until_still());
    EXPECT_EQ(seen_docks(window()).size(), 2U) << panel;
    EXPECT_GE(window().centralWidget()->width(), 0.3 * window().width());
  }
  press(Qt::Key_F5);
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(seen_docks(window()), lesson_first ? between : before);
  if (!lesson_first) return;
  child<QDockWidget>("lessons")->close();
  ASSERT_TRUE(wait_until_still());
  EXPECT_EQ(seen_docks(window()), before);
}

INSTANTIATE_TEST_SUITE_P(Orders, PresentedLesson, testing::Bool());

TEST_F(Room, PresentationEnlargesFiguresToo) {
  open_models(1600, 1000);
  AtlasCanvas* const atlas = window().findChild<AtlasCanvas*>();
  const double letters = atlas->fontMetrics().height();
  const double above = atlas->map_rect(0, 0).top();
  const int bar = child<QToolBar>("top_bar")->findChild<QToolButton*>("identity_0")->height();
  press(Qt::Key_F5);
  ASSERT_TRUE(wait_until_still());
  EXPECT_GT(atlas->fontMetrics().height(), 1.4 * letters);
  EXPECT_GT(child<QToolBar>("top_bar")->findChild<QToolButton*>("identity_0")->height(), bar);
  press(Qt::Key_F5);
  ASSERT_TRUE(wait_until_still());
  EXPECT_NEAR(atlas->map_rect(0, 0).top(), above, 1e-9);
  EXPECT_EQ(child<QToolBar>("top_bar")->findChild<QToolButton*>("identity_0")->height(), bar);
}

TEST_F(Room, LayoutsForWorkAreAKeyAway) {
  open_models(1600, 1000);
  const double share = share_of_maps();
  press(Qt::Key_2, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_still());
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(child<QDockWidget>("comparison")->visibleRegion().isEmpty());
  EXPECT_GE(share_of_maps(), share);
  press(Qt::Key_3, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_still());
  EXPECT_GE(child<QDockWidget>("spectrum")->width(), 0.4 * window().width());
  press(Qt::Key_4, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(open("lessons"));
  EXPECT_FALSE(open("models"));
  press(Qt::Key_1, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_still());
  EXPECT_TRUE(open("models"));
  EXPECT_FALSE(open("lessons"));
  EXPECT_NEAR(share_of_maps(), share, 0.01);
  EXPECT_EQ(window().size(), QSize(1600, 1000));
}

TEST_F(Room, HidesTheLeftColumnForAWideDockWhenTheWindowIsNarrow) {
  open_two_at(1280, 800);
  window().show_panel("lessons");
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(open("inputs"));
  ASSERT_TRUE(wait_until_still());
  EXPECT_GE(child<QDockWidget>("lessons")->width(), 400);
  // A second dock opens as a tab. Nothing changes until the last of them is closed.
  window().show_panel("energy");
  child<QDockWidget>("lessons")->close();
  EXPECT_FALSE(open("models"));
  auto* close = window()
                    .findChild<QDockWidget*>("energy")
                    ->titleBarWidget()
                    ->findChildren<QToolButton*>()
                    .back();
  EXPECT_EQ(close->toolTip(), "Close Energy");
  QTest::mouseClick(close, Qt::LeftButton);
  EXPECT_TRUE(open("models"));
  EXPECT_TRUE(open("inputs"));
}

TEST_F(Room, DocksThatTheUserClosedStayClosed) {
  open_two_at(1280, 800);
  child<QDockWidget>("inputs")->close();
  window().show_panel("lessons");
  child<QDockWidget>("lessons")->close();
  EXPECT_TRUE(open("models"));
  EXPECT_FALSE(open("inputs"));
}

TEST_F(Room, AWideWindowShowsAllThree) {
  open_two_at(1600, 1000);
  const int left = child<QDockWidget>("models")->width();
  window().show_panel("lessons");
  EXPECT_TRUE(open("models"));
  ASSERT_TRUE(wait_until_still());
  EXPECT_NEAR(child<QDockWidget>("models")->width(), left, 2);
  window().resize(1280, 800);
  EXPECT_FALSE(open("models"));
  window().resize(1600, 1000);
  EXPECT_TRUE(open("models"));
}

class TallPanel : public DockPanel {
 public:
  TallPanel() : DockPanel("Tall") {
    auto* content = new QWidget;
    content->setMinimumSize(600, 900);
    body()->addWidget(content);
  }
};

TEST_F(Room, ScrollsPanelsThatDoNotFit) {
  TallPanel panel;
  EXPECT_LE(panel.minimumSizeHint().width(), 300);
  EXPECT_LE(panel.minimumSizeHint().height(), 200);
  panel.resize(300, 200);
  panel.show();
  QTest::qWait(50);
  const auto* scroll = panel.findChild<QScrollArea*>();
  ASSERT_NE(scroll, nullptr);
  EXPECT_GE(scroll->widget()->height(), 900);
}

}  // namespace
}  // namespace attnscope
