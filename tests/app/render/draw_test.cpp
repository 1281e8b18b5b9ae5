// Layout of drawn figures on paper and on a screen.
#include <gtest/gtest.h>
#include <qcustomplot.h>

#include "analysis/figure/recipe.h"
#include "app/render/render.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

FigureRequest two_subjects(const SubjectShape& shape = {}) {
  FigureRequest request;
  request.subjects = {attention_subject("softmax", {"softmax", {}}, shape),
                      attention_subject("adder", {"adder", {}}, shape)};
  return request;
}

/// Draws the figure like a panel of the window does. Painting once computes the layout.
void show(const Figure& figure, QCustomPlot& plot, QSize size,
          FigureTheme theme = FigureTheme::light) {
  plot.setAttribute(Qt::WA_DontShowOnScreen);
  plot.resize(size);
  plot.show();  // a hidden widget gets its size only when it is shown
  draw(figure, plot, theme);
  plot.replot(QCustomPlot::rpImmediateRefresh);
}

TEST(Draw, AxisRectsComeInTheOrderOfPanels) {
  const Figure figure = make_figure("attention-maps", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {500, 360});
  const QList<QCPAxisRect*> rects = plot.axisRects();
  ASSERT_EQ(rects.size(), 7);  // 2 × 3 maps and one bar
  for (qsizetype index = 1; index < 6; ++index) {
    const QRect before = rects[index - 1]->rect();
    const QRect here = rects[index]->rect();
    EXPECT_TRUE(here.left() > before.right() || here.top() > before.bottom());
  }
}

TEST(Draw, CellsAreSquareAndFramesAlignedAtAnySize) {
  SubjectShape oblong;
  oblong.grid_rows = 4;
  oblong.grid_columns = 8;
  FigureRequest request = two_subjects(oblong);
  request.settings = {{"scale", "shared"}};
  const Figure figure = make_figure("attention-overlay", request);
  for (const QSize size : {QSize(900, 300), QSize(400, 700), QSize(330, 160)}) {
    QCustomPlot plot;
    show(figure, plot, size);
    const QList<QCPAxisRect*> rects = plot.axisRects();
    ASSERT_EQ(rects.size(), 11);
    for (qsizetype index = 0; index < 10; ++index) {
      const QRect frame = rects[index]->rect();
      EXPECT_NEAR(frame.width(), 2 * frame.height(), 2) << size.width();
      EXPECT_EQ(frame.top(), rects[index / 5 * 5]->rect().top());
      EXPECT_EQ(frame.left(), rects[index % 5]->rect().left());
      const QRect outer = rects[index]->outerRect();
      EXPECT_TRUE(plot.rect().contains(outer))
          << index << ": " << outer.left() << " " << outer.top() << " " << outer.right() << " "
          << outer.bottom() << " in " << size.width() << " " << size.height();
    }
    // The colour bar spans both rows.
    EXPECT_EQ(rects[10]->rect().top(), rects[0]->rect().top());
    EXPECT_EQ(rects[10]->rect().bottom(), rects[9]->rect().bottom());
    EXPECT_GT(rects[10]->rect().left(), rects[4]->rect().right());
  }
}

TEST(Draw, AShortColourBarHasTheTicksThatItHasRoomFor) {
  QCustomPlot plot;
  show(make_figure("attention-overlay", two_subjects()), plot, {330, 120});
  const QList<QCPAxisRect*> rects = plot.axisRects();
  ASSERT_EQ(rects.size(), 12);  // images, two layers and rollout of two models, a bar for each
  for (qsizetype bar = 10; bar < 12; ++bar) {
    const QCPAxis& axis = *rects[bar]->axis(QCPAxis::atRight);
    const int lines = rects[bar]->height() / QFontMetrics(axis.tickLabelFont()).height();
    EXPECT_LE(axis.ticker()->tickCount(), std::max(1, lines));
  }
}

TEST(Draw, FollowsTheSizeOfALivePlot) {
  const Figure figure = make_figure("cumulative-spectrum", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {400, 300});
  const QRect small = plot.axisRects().at(0)->rect();
  plot.resize(800, 500);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  EXPECT_GT(plot.axisRects().at(0)->rect().width(), small.width() + 300);
}

std::vector<QCPLegend*> legends_of(const QCustomPlot& plot) {
  std::vector<QCPLegend*> legends;
  for (QCPLayerable* child : plot.layer("legend")->children()) {
    if (auto* found = qobject_cast<QCPLegend*>(child)) legends.push_back(found);
  }
  return legends;
}

TEST(Draw, LegendBelowCoversNothing) {
  const Figure figure = make_figure("cumulative-spectrum", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {400, 300});
  ASSERT_EQ(legends_of(plot).size(), 1U);
  QCPLegend* const legend = legends_of(plot).front();
  int items = 0;  // itemCount() includes empty cells of the legend's grid
  for (int index = 0; index < legend->itemCount(); ++index) items += legend->item(index) != nullptr;
  EXPECT_EQ(items, 5);
  EXPECT_GE(legend->outerRect().top(), plot.axisRects().at(0)->outerRect().bottom());
  EXPECT_TRUE(plot.rect().contains(legend->outerRect()));
}

TEST(Draw, LegendsOfAPageStandInTheirFigures) {
  FigureRequest request = two_subjects();
  request.settings["page"] = "cumulative-spectrum | rank-by-layer";
  QCustomPlot plot;
  show(make_figure("composite", request), plot, {420, 300});
  const std::vector<QCPLegend*> legends = legends_of(plot);
  ASSERT_EQ(legends.size(), 2U);
  EXPECT_FALSE(legends[0]->outerRect().intersects(legends[1]->outerRect()));
  for (const QCPLegend* legend : legends) EXPECT_TRUE(plot.rect().contains(legend->outerRect()));
}

TEST(Draw, AFrameIsClosed) {
  Figure figure;
  Panel panel;
  Line frame;
  frame.x = {1, 2, 2, 1, 1};
  frame.y = {1, 1, 2, 2, 1};
  panel.x.maximum = panel.y.maximum = 3;
  panel.x.minimum = panel.y.minimum = 0;
  panel.marks.emplace_back(frame);
  figure.panels.push_back(panel);
  QCustomPlot plot;
  show(figure, plot, {300, 300});
  const auto* drawn = qobject_cast<QCPCurve*>(plot.plottable(0));
  ASSERT_NE(drawn, nullptr);
  ASSERT_EQ(drawn->dataCount(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(drawn->data()->at(i)->key, frame.x[static_cast<std::size_t>(i)]);
    EXPECT_EQ(drawn->data()->at(i)->value, frame.y[static_cast<std::size_t>(i)]);
  }
}

TEST(Draw, MarkersOnTheEdgesOfTheAxesAreWhole) {
  Figure figure;
  Panel panel;
  Line line;
  line.x = {0, 1, 2};
  line.y = {0, 1, 2};
  line.colour = {255, 0, 0, 255};
  line.style = LineStyle::none;
  line.marker = MarkerShape::square;
  panel.x.minimum = panel.y.minimum = 0;
  panel.x.maximum = panel.y.maximum = 2;
  panel.marks.emplace_back(line);
  figure.panels.push_back(std::move(panel));
  QCustomPlot plot;
  show(figure, plot, {300, 300});
  const QImage image = plot.grab().toImage().convertToFormat(QImage::Format_RGB32);
  const QCPAxisRect& axes = *plot.axisRect();
  const auto red_around = [&](double at) {
    const QPointF middle(axes.axis(QCPAxis::atBottom)->coordToPixel(at),
                         axes.axis(QCPAxis::atLeft)->coordToPixel(at));
    constexpr int kReach = 6;  // pixels, more than half a marker
    int red = 0;
    for (int y = -kReach; y <= kReach; ++y) {
      for (int x = -kReach; x <= kReach; ++x) {
        const QPoint pixel = middle.toPoint() + QPoint(x, y);
        if (!image.rect().contains(pixel)) continue;
        const QColor colour = image.pixelColor(pixel);
        if (colour.red() > 200 && colour.green() < 60) ++red;
      }
    }
    return red;
  };
  const int whole = red_around(1);
  EXPECT_GE(whole, 4);
  EXPECT_NEAR(red_around(2), whole, 0.25 * whole);
}

TEST(Draw, ALabelTooLongForItsAxisStandsInTwoLines) {
  const Figure figure = make_figure("rank-by-layer", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {400, 400});
  const auto label = [&] { return plot.axisRects().at(0)->axis(QCPAxis::atLeft)->label(); };
  EXPECT_EQ(label(), "equivalent rank (τ = 0.9 of Σσ)");
  plot.resize(400, 170);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  EXPECT_EQ(label(), "equivalent rank\n(τ = 0.9 of Σσ)");
  plot.resize(400, 400);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  EXPECT_EQ(label(), "equivalent rank (τ = 0.9 of Σσ)");
}

TEST(Draw, LabelsOfALowAxisDoNotOverlap) {
  const Figure figure = make_figure("rank-by-layer", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {400, 400});
  const QCPAxis& axis = *plot.axisRects().at(0)->axis(QCPAxis::atLeft);
  const QVector<double> usual = axis.tickVector();
  plot.resize(400, 95);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  const QVector<double> few = axis.tickVector();
  EXPECT_LT(few.size(), usual.size());
  ASSERT_GE(few.size(), 2);
  EXPECT_GE(axis.coordToPixel(few[0]) - axis.coordToPixel(few[1]),
            QFontMetrics(axis.tickLabelFont()).ascent());
  plot.resize(400, 400);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  EXPECT_EQ(axis.tickVector(), usual);
}

TEST(Draw, ATitleTooLongForItsColumnIsShortenedInItsMiddle) {
  Figure figure;
  figure.panels.resize(2);
  figure.panels[1].column = 1;
  figure.panels[0].title = "a title far too long for a panel so narrow that it has no room";
  figure.panels[1].title = "short";
  QCustomPlot plot;
  show(figure, plot, {300, 200});
  std::vector<QCPTextElement*> titles;
  for (QCPLayerable* child : plot.layer("main")->children()) {
    if (auto* found = qobject_cast<QCPTextElement*>(child)) titles.push_back(found);
  }
  ASSERT_EQ(titles.size(), 2U);
  EXPECT_TRUE(titles[0]->text().contains("…")) << titles[0]->text().toStdString();
  EXPECT_EQ(titles[1]->text(), "short");
  plot.resize(1200, 200);
  plot.replot(QCustomPlot::rpImmediateRefresh);
  EXPECT_EQ(titles[0]->text().toStdString(), figure.panels[0].title);
}

TEST(Draw, DarkThemeHasLightText) {
  const Figure figure = make_figure("rank-by-layer", two_subjects());
  QCustomPlot plot;
  show(figure, plot, {400, 300}, FigureTheme::dark);
  EXPECT_LT(plot.toPixmap(400, 300).toImage().pixelColor(0, 0).lightness(), 60);
  EXPECT_GT(plot.axisRects().at(0)->axis(QCPAxis::atLeft)->labelColor().lightness(), 180);
}

TEST(Draw, RedrawsOverThePreviousFigure) {
  QCustomPlot plot;
  show(make_figure("attention-maps", two_subjects()), plot, {500, 400});
  show(make_figure("rank-by-layer", two_subjects()), plot, {500, 400});
  EXPECT_EQ(plot.axisRects().size(), 1);
  show(Figure{}, plot, {500, 400});
  EXPECT_EQ(plot.axisRects().size(), 0);
  EXPECT_EQ(plot.plottableCount(), 0);
}

TEST(Draw, StacksBarsThatShareAPlace) {
  Figure figure;
  Panel panel;
  panel.marks.emplace_back(Bars{"a", {0, 1}, {2, 3}, 0.5, {}});
  panel.marks.emplace_back(Bars{"b", {0, 1}, {1, 4}, 0.5, {}});
  panel.marks.emplace_back(Bars{"c", {0.5}, {1}, 0.5, {}});
  figure.panels.push_back(panel);
  QCustomPlot plot;
  show(figure, plot, {300, 200});
  ASSERT_EQ(plot.plottableCount(), 3);
  auto* first = qobject_cast<QCPBars*>(plot.plottable(0));
  auto* second = qobject_cast<QCPBars*>(plot.plottable(1));
  auto* apart = qobject_cast<QCPBars*>(plot.plottable(2));
  EXPECT_EQ(second->barBelow(), first);
  EXPECT_EQ(apart->barBelow(), nullptr);
  // The stack of 3 + 4 lies within the axis.
  EXPECT_GE(plot.axisRects().at(0)->axis(QCPAxis::atLeft)->range().upper, 7);
}

TEST(Draw, AMapOfOneCellAndAnEmptyPanelAreDrawn) {
  Figure figure;
  figure.colour_scales.emplace_back();
  Panel panel;
  panel.square_cells = true;
  panel.marks.emplace_back(HeatMap{1, 1, {0.5F}, 0, 1});
  Panel empty;
  empty.column = 1;
  empty.x.logarithmic = true;
  figure.panels = {panel, empty};
  QCustomPlot plot;
  show(figure, plot, {300, 200});
  EXPECT_FALSE(plot.toPixmap(300, 200).isNull());
}

}  // namespace
}  // namespace attnscope
