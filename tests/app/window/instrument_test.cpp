// Interactive plots and maps: values under the cursor, zoom, other axes, menus and names.
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <qcustomplot.h>

#include "app/canvas/atlas_canvas.h"
#include "app/panels/frame/figure_panel.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/panels/models/subject_card.h"
#include "app/window/map_menu.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class Instrument : public WindowTest {
 protected:
  void open(std::int64_t count = 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      session().add_trace(
          std::make_shared<const Trace>(sample_trace(4, 3, 4, 1.0 + static_cast<double>(i))),
          "model-" + std::to_string(i));
    }
    ASSERT_TRUE(wait_until_settled());
    QTest::qWait(50);
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] QCustomPlot& plot() { return *child<QCustomPlot>("spectrum_plot"); }
  [[nodiscard]] FigurePanel& panel() {
    for (FigurePanel* one : window().findChildren<FigurePanel*>()) {
      if (one->isAncestorOf(&plot())) return *one;
    }
    throw std::logic_error("no panel");
  }
  /// Position of a point of the first line, in pixels of the plot.
  [[nodiscard]] QPoint place_of(std::size_t point) {
    for (const Mark& mark : panel().figure()->panels[0].marks) {
      if (const auto* line = std::get_if<Line>(&mark); line && line->x.size() > point) {
        QCPAxisRect& axes = *plot().axisRect(0);
        return QPointF(axes.axis(QCPAxis::atBottom)->coordToPixel(line->x[point]),
                       axes.axis(QCPAxis::atLeft)->coordToPixel(line->y[point]))
            .toPoint();
      }
    }
    return {};
  }
  void wheel(QWidget& widget, QPoint at, int steps) {
    QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, 120 * steps}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
    QTest::qWait(30);
  }
  [[nodiscard]] QCPRange range() { return plot().axisRect(0)->axis(QCPAxis::atBottom)->range(); }
  /// Triggers an action of the context menu.
  void choose(QWidget& widget, QPoint at, const char* action) {
    QTimer::singleShot(50, [action] {
      auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      ASSERT_NE(menu, nullptr);
      for (QAction* one : menu->actions()) {
        if (one->objectName() == QLatin1String(action)) one->trigger();
      }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
    QApplication::sendEvent(&widget, &event);
  }
  [[nodiscard]] AtlasCanvas& atlas(std::size_t place = 0) {
    for (AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
      if (canvas->subject() == id(place)) return *canvas;
    }
    throw std::logic_error("no atlas");
  }
  [[nodiscard]] QPoint middle(std::int64_t layer, std::int64_t head) {
    return atlas().map_rect(layer, head).center().toPoint();
  }
};

TEST_F(Instrument, CopiesAValueInTheDigitsOfAFloat) {
  open();
  const std::shared_ptr<const Trace> trace = session().trace(id(0));
  Selection selection = session().selection();
  selection.hover = {id(0), 1, 2, 3, 4};
  session().select(selection);
  press(Qt::Key_C, Qt::ControlModifier);
  QString copied = QGuiApplication::clipboard()->text();
  EXPECT_EQ(copied.toFloat(), trace->layers[1].implied_map.at(2, 3, 4)) << copied.toStdString();
  EXPECT_LE(copied.remove(QRegularExpression("^0?\\.0*|e.*")).size(), 9);
}

TEST_F(Instrument, TheSpectrumIsThatOfTheEnlargedMap) {
  open();
  auto* const canvas = window().findChild<AtlasCanvas*>();
  if (canvas == nullptr) GTEST_SKIP() << "no OpenGL here";
  const auto* const this_map = child<QToolButton>("spectrum_this_map");
  EXPECT_FALSE(this_map->isChecked());
  QTest::keyClick(canvas, Qt::Key_Return);
  EXPECT_TRUE(this_map->isChecked());
  ASSERT_TRUE(wait_until_settled());
  QTest::keyClick(canvas, Qt::Key_Escape);
  EXPECT_FALSE(this_map->isChecked());
}

TEST_F(Instrument, ShowsTheValueUnderTheCursor) {
  open();
  const QPoint at = place_of(2);
  QTest::mouseMove(&plot(), at);
  QTest::qWait(30);
  const auto* readout = plot().findChild<QLabel*>("plot_readout");
  ASSERT_TRUE(readout->isVisible());
  const auto& line =
      std::get<Line>(*std::ranges::find_if(panel().figure()->panels[0].marks, [](const Mark& mark) {
        return std::holds_alternative<Line>(mark);
      }));
  EXPECT_TRUE(readout->text().contains("r: " + QString::number(line.x[2])))
      << readout->text().toStdString();
  const QString share = readout->text().section("Σσ: ", 1).section('\n', 0, 0);
  EXPECT_NEAR(share.toDouble(), line.y[2], 1e-3);
  choose(plot(), at, "copy_value");
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(share));
  QTest::mouseMove(&plot(), QPoint(2, 2));
  QTest::qWait(30);
  EXPECT_FALSE(readout->isVisible());
}

TEST_F(Instrument, ZoomsInAndOut) {
  open();
  const QCPRange whole = range();
  const QPoint at = place_of(4);
  const double under = plot().axisRect(0)->axis(QCPAxis::atBottom)->pixelToCoord(at.x());
  wheel(plot(), at, 3);
  EXPECT_LT(range().size(), 0.7 * whole.size());
  EXPECT_NEAR(plot().axisRect(0)->axis(QCPAxis::atBottom)->pixelToCoord(at.x()), under, 0.3);
  const QCPRange closer = range();
  // The zoom is kept when the figure is redrawn.
  panel().want();
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(60);
  EXPECT_NEAR(range().lower, closer.lower, 1e-6);
  wheel(plot(), at, -20);
  EXPECT_NEAR(range().lower, whole.lower, 1e-6);
  EXPECT_NEAR(range().upper, whole.upper, 1e-6);
  wheel(plot(), at, 3);
  QTest::mouseDClick(&plot(), Qt::LeftButton, {}, at);
  QTest::qWait(30);
  EXPECT_NEAR(range().size(), whole.size(), 1e-6);
}

TEST_F(Instrument, ADragMovesAZoomedPlot) {
  open();
  const QPoint at = plot().axisRect(0)->rect().center();
  wheel(plot(), at, 5);
  const QCPRange before = range();
  QTest::mousePress(&plot(), Qt::LeftButton, {}, at);
  QTest::mouseMove(&plot(), at + QPoint(30, 0));
  QTest::mouseMove(&plot(), at + QPoint(60, 0));
  QTest::mouseRelease(&plot(), Qt::LeftButton, {}, at + QPoint(60, 0));
  EXPECT_LT(range().lower, before.lower);
  EXPECT_NEAR(range().size(), before.size(), 1e-6);
}

TEST_F(Instrument, AxesBecomeLogarithmic) {
  open();
  choose(plot(), place_of(2), "log_x");
  QTest::qWait(30);
  EXPECT_EQ(plot().axisRect(0)->axis(QCPAxis::atBottom)->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_GT(range().lower, 0);
  choose(plot(), place_of(2), "log_x");
  QTest::qWait(30);
  EXPECT_EQ(plot().axisRect(0)->axis(QCPAxis::atBottom)->scaleType(), QCPAxis::stLinear);
}

TEST_F(Instrument, CopiesItsNumbersAndItsPicture) {
  open();
  choose(plot(), place_of(2), "copy_csv");
  const QString csv = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(csv.startsWith("figure,panel_row")) << csv.left(80).toStdString();
  EXPECT_GT(csv.count('\n'), 17);
  choose(plot(), place_of(2), "copy_figure");
  EXPECT_GE(QGuiApplication::clipboard()->image().width(), plot().width());
}

TEST_F(Instrument, APointOfALayerSelectsItsMap) {
  open();
  window().show_panel("depth");
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(50);
  auto* depth = child<QCustomPlot>("rank-over-depth_plot");
  ASSERT_NE(depth, nullptr);
  QCPAxisRect& axes = *depth->axisRect(0);
  const QCPGraph* means = nullptr;
  for (const QCPGraph* graph : axes.graphs()) {
    if (graph->dataCount() == 4) means = graph;
  }
  ASSERT_NE(means, nullptr);
  const QPoint at(
      static_cast<int>(axes.axis(QCPAxis::atBottom)->coordToPixel(3)),
      static_cast<int>(axes.axis(QCPAxis::atLeft)->coordToPixel(means->dataMainValue(3))));
  ASSERT_EQ(session().selection().layer, 0);
  QTest::mouseClick(depth, Qt::LeftButton, {}, at);
  EXPECT_EQ(session().selection().layer, 3);
}

TEST_F(Instrument, ExportProposesTheShownFigure) {
  open();
  ViewSettings view = session().view();
  view.identity = IdentityView::with;
  session().set_view(view);
  session().select_map(id(0), 2, 1);
  atlas().setFocus();
  QTest::keyClick(&atlas(), Qt::Key_Return);  // enlarges the map
  ASSERT_TRUE(wait_until_settled());
  QString figure, command;
  on_dialog([&](QDialog& dialog) {
    figure = dialog.findChild<QComboBox*>("export_figure")->currentData().toString();
    command = dialog.findChild<QPlainTextEdit*>("export_command")->toPlainText();
    dialog.reject();
  });
  press(Qt::Key_E, Qt::ControlModifier);
  EXPECT_EQ(figure, "attention-maps");
  for (const char* word : {"layers=2", "heads=1", "identity=with"}) {
    EXPECT_TRUE(command.contains(word)) << command.toStdString();
  }
  plot().setFocus();
  on_dialog([&](QDialog& dialog) {
    figure = dialog.findChild<QComboBox*>("export_figure")->currentData().toString();
    dialog.reject();
  });
  press(Qt::Key_E, Qt::ControlModifier);
  EXPECT_EQ(figure, "cumulative-spectrum");
}

TEST_F(Instrument, AsksForTheAddressOfAModelOnAnotherMachine) {
  QStringList wanted;
  QObject::connect(&window(), &MainWindow::remote_wanted, &window(),
                   [&](const QString& address) { wanted << address; });
  const auto answer = [&](const QString& text, bool accept) {
    on_dialog([=](QDialog& dialog) {
      auto* input = qobject_cast<QInputDialog*>(&dialog);
      ASSERT_NE(input, nullptr);
      EXPECT_TRUE(input->textValue().startsWith("ssh://")) << input->textValue().toStdString();
      input->setTextValue(text);
      accept ? input->accept() : input->reject();
    });
    window().findChild<QAction*>("open_remote")->trigger();
  };
  answer("ssh://host/elsewhere", false);
  EXPECT_TRUE(wanted.isEmpty());
  answer(" ssh://me@host/vit.h5 ", true);
  EXPECT_EQ(wanted, QStringList{"ssh://me@host/vit.h5"});
}

TEST_F(Instrument, RenamesAModelEverywhere) {
  open(2);
  on_dialog([](QDialog& dialog) {
    auto* input = qobject_cast<QInputDialog*>(&dialog);
    ASSERT_NE(input, nullptr);
    input->setTextValue("ours");
    input->accept();
  });
  auto* card = window().findChild<SubjectCard*>();
  ASSERT_NE(card, nullptr);
  QTest::mouseDClick(card, Qt::LeftButton);
  ASSERT_EQ(session().subjects()[0].subject.label, "ours");
  ASSERT_TRUE(wait_until_settled());
  bool in_legend = false;
  for (const QCPGraph* graph : plot().axisRect(0)->graphs()) {
    in_legend |= graph->name().startsWith("ours");
  }
  EXPECT_TRUE(in_legend);
  // The name is saved in the session's file.
  session().save(folder() / "named.json");
  std::ifstream saved(folder() / "named.json");
  const std::string text((std::istreambuf_iterator<char>(saved)), {});
  EXPECT_NE(text.find("\"name\": \"ours\""), std::string::npos);
  session().rename(id(0), "");
  EXPECT_NE(session().subjects()[0].subject.label, "ours");
}

TEST_F(Instrument, AMapIsCopied) {
  open();
  const std::shared_ptr<const Trace> trace = session().trace(id(0));
  choose(atlas(), middle(1, 2), "copy_csv");
  const QString csv = QGuiApplication::clipboard()->text();
  EXPECT_EQ(csv.count('\n'), trace->queries(1) + 1);
  // The values follow the query's name, which may contain commas.
  const QStringList row = csv.section('\n', 3, 3).section("\",", -1).split(',');
  ASSERT_EQ(row.size(), trace->keys(1));
  const Tensor& map = trace->layers[1].implied_map.whole();
  EXPECT_FLOAT_EQ(row[4].toFloat(), map.data()[(2 * map.extent(1) + 2) * map.extent(2) + 4]);
  EXPECT_EQ(session().selection().layer, 1);
  EXPECT_EQ(session().selection().head, 2);
  choose(atlas(), middle(1, 2), "copy_figure");
  const QImage image = QGuiApplication::clipboard()->image();
  EXPECT_EQ(image.width() % trace->keys(1), 0);
  EXPECT_GT(image.width(), 300);
}

TEST_F(Instrument, ShiftSelectsABlockOfMaps) {
  open();
  QTest::mouseClick(&atlas(), Qt::LeftButton, {}, middle(1, 0));
  QTest::mouseClick(&atlas(), Qt::LeftButton, Qt::ShiftModifier, middle(2, 1));
  MapBlock block = block_of(session().selection());
  EXPECT_EQ(block.first_layer, 1);
  EXPECT_EQ(block.last_layer, 2);
  EXPECT_EQ(block.last_head, 1);
  EXPECT_TRUE(block.contains(2, 0));
  EXPECT_FALSE(block.contains(3, 0));
  QTest::mousePress(&atlas(), Qt::LeftButton, Qt::ShiftModifier, middle(0, 1));
  QTest::mouseMove(&atlas(), middle(1, 1));
  QTest::mouseMove(&atlas(), middle(3, 2));
  QTest::mouseRelease(&atlas(), Qt::LeftButton, Qt::ShiftModifier, middle(3, 2));
  block = block_of(session().selection());
  EXPECT_EQ(block.first_layer, 0);
  EXPECT_EQ(block.last_layer, 3);
  EXPECT_EQ(block.first_head, 1);
  EXPECT_EQ(block.last_head, 2);
  const ParameterValues settings = shown_map_settings(session());
  EXPECT_EQ(to_string(settings.at("layers")), "0-3");
  EXPECT_EQ(to_string(settings.at("heads")), "1-2");
  QTest::mouseClick(&atlas(), Qt::LeftButton, {}, middle(0, 0));
  EXPECT_TRUE(block_of(session().selection()).is_one());
}

TEST_F(Instrument, MapsStandInTheOrderOfTheirNumbers) {
  open();
  press(Qt::Key_N, Qt::ShiftModifier);
  ASSERT_TRUE(wait_until_settled());
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    for (std::int64_t head = 0; head < 3; ++head) {
      // A click selects the map that is drawn at that position.
      QTest::mouseClick(&atlas(), Qt::LeftButton, {}, middle(layer, head));
      EXPECT_EQ(session().selection().layer, layer);
      EXPECT_EQ(session().selection().head, head);
    }
  }
  press(Qt::Key_N, Qt::ShiftModifier);
  EXPECT_FALSE(session().view().sorted_by_number);
}

}  // namespace
}  // namespace attnscope
