#include "app/render/panel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <qcustomplot.h>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/polyline.h"
#include "analysis/figure/ticks.h"
#include "app/render/cells_plottable.h"

namespace attnscope {

namespace {

// ---- texts of marked points and rules ----

bool crosses(const QRectF& box, const QLineF& line) {
  if (box.contains(line.p1()) || box.contains(line.p2())) return true;
  const QLineF diagonals[] = {{box.topLeft(), box.bottomRight()},
                              {box.topRight(), box.bottomLeft()}};
  QPointF where;
  return std::any_of(std::begin(diagonals), std::end(diagonals), [&](const QLineF& diagonal) {
    return diagonal.intersects(line, &where) == QLineF::BoundedIntersection;
  });
}

/// The line segments of every curve of the axis rect, in pixels.
std::vector<QLineF> segments_in(const QCPAxisRect& axes) {
  std::vector<QLineF> segments;
  for (const QCPGraph* graph : axes.graphs()) {
    if (graph->property("rule").toBool()) continue;  // a rule has its own text next to it
    QPointF last;
    bool has_last = false;
    for (const QCPGraphData& data : *graph->data()) {
      const QPointF here = graph->coordsToPixels(data.key, data.value);
      if (has_last) segments.emplace_back(last, here);
      last = here;
      has_last = true;
    }
  }
  return segments;
}

/// All marked points of one panel, and the texts of its horizontal rules. Texts are placed during
/// painting, without overlapping each other, curves or the legend: a point's text next to its drop
/// line just above the x axis, a rule's text along the rule.
class PointMarksItem : public QCPAbstractItem {
 public:
  struct Point {
    double x = 0, y = 0;
    QString text;
    QColor colour;
    bool drop_lines = true;
  };
  struct RuleText {
    double y = 0;
    QString text;
    QColor colour;
  };
  struct Look {
    QFont font;
    QColor background;
    double line_width = 1, marker_size = 4, gap = 2;  ///< pixels
  };

  PointMarksItem(QCPAxisRect& axes, std::vector<Point> points, std::vector<RuleText> rules,
                 Look look);

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  [[nodiscard]] QPointF pixel(const Point& point) const;
  [[nodiscard]] std::vector<QRectF> legends() const;
  /// Boxes in the order of points_, which are also added to `taken`.
  [[nodiscard]] std::vector<QRectF> placed_texts(const QFontMetricsF& metrics,
                                                 const std::vector<QLineF>& curves,
                                                 std::vector<QRectF>& taken) const;
  [[nodiscard]] QRectF placed_rule_text(const RuleText& rule, const QFontMetricsF& metrics,
                                        const std::vector<QLineF>& curves,
                                        const std::vector<QRectF>& taken) const;
  void draw_text(QCPPainter& painter, const QRectF& box, const QString& text,
                 const QColor& colour) const;

  QCPAxisRect& axes_;
  std::vector<Point> points_;
  std::vector<RuleText> rules_;
  Look look_;
};

PointMarksItem::PointMarksItem(QCPAxisRect& axes, std::vector<Point> points,
                               std::vector<RuleText> rules, Look look)
    : QCPAbstractItem(axes.parentPlot()),
      axes_(axes),
      points_(std::move(points)),
      rules_(std::move(rules)),
      look_(std::move(look)) {
  setClipToAxisRect(false);
}

QPointF PointMarksItem::pixel(const Point& point) const {
  return {axes_.axis(QCPAxis::atBottom)->coordToPixel(point.x),
          axes_.axis(QCPAxis::atLeft)->coordToPixel(point.y)};
}

std::vector<QRectF> PointMarksItem::legends() const {
  const QCPLayoutInset& inset = *axes_.insetLayout();
  std::vector<QRectF> boxes;
  boxes.reserve(static_cast<std::size_t>(inset.elementCount()));
  for (int index = 0; index < inset.elementCount(); ++index) {
    boxes.emplace_back(inset.elementAt(index)->outerRect());
  }
  return boxes;
}

std::vector<QRectF> PointMarksItem::placed_texts(const QFontMetricsF& metrics,
                                                 const std::vector<QLineF>& curves,
                                                 std::vector<QRectF>& taken) const {
  const QRectF frame(axes_.rect());
  const double line_height = metrics.height();
  std::vector<std::size_t> order(points_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return points_[a].x < points_[b].x; });

  std::vector<QRectF> boxes(points_.size());
  for (const std::size_t index : order) {
    if (points_[index].text.isEmpty()) continue;
    const double width = metrics.horizontalAdvance(points_[index].text);
    const double x = pixel(points_[index]).x();
    double best_cost = 1e9;
    for (int level = 0; level < 6; ++level) {
      for (const bool right : {true, false}) {
        const QRectF box(right ? x + look_.gap : x - look_.gap - width,
                         frame.bottom() - look_.gap - (level + 1) * line_height, width,
                         line_height);
        double cost = level + (right ? 0 : 0.5);
        if (box.left() < frame.left() || box.right() > frame.right()) cost += 100;
        for (const QRectF& other : taken) cost += other.intersects(box) ? 50 : 0;
        for (const Point& other : points_) {
          const QPointF p = pixel(other);
          if (other.drop_lines && p.x() > box.left() && p.x() < box.right()) cost += 5;
        }
        for (const QLineF& curve : curves) {
          if (crosses(box, curve)) {
            cost += 6;
            break;
          }
        }
        if (cost < best_cost) {
          best_cost = cost;
          boxes[index] = box;
        }
      }
    }
    taken.push_back(boxes[index]);
  }
  return boxes;
}

QRectF PointMarksItem::placed_rule_text(const RuleText& rule, const QFontMetricsF& metrics,
                                        const std::vector<QLineF>& curves,
                                        const std::vector<QRectF>& taken) const {
  const QRectF frame(axes_.rect());
  const QSizeF size(metrics.horizontalAdvance(rule.text) + 2 * look_.gap, metrics.height());
  const double y = axes_.axis(QCPAxis::atLeft)->coordToPixel(rule.y);
  QRectF best;
  double best_cost = 1e9;
  constexpr int places = 16;
  for (int place = 0; place < places; ++place) {
    for (const bool above : {true, false}) {
      const double x = frame.left() + place * (frame.width() - size.width()) / (places - 1);
      const QRectF box(QPointF(x, above ? y - size.height() : y + look_.gap / 2), size);
      double cost = above ? 0 : 0.5;
      if (box.top() < frame.top() || box.bottom() > frame.bottom()) cost += 100;
      for (const QRectF& other : taken) cost += other.intersects(box) ? 50 : 0;
      for (const Point& point : points_) {
        const QPointF at = pixel(point);
        if (point.drop_lines && crosses(box, {at, QPointF(at.x(), frame.bottom())})) cost += 10;
        if (box.adjusted(-look_.marker_size, 0, look_.marker_size, 0).contains(at)) cost += 10;
      }
      cost += 6 * static_cast<double>(
                      std::count_if(curves.begin(), curves.end(),
                                    [&](const QLineF& curve) { return crosses(box, curve); }) > 0);
      if (cost < best_cost) {
        best_cost = cost;
        best = box;
      }
    }
  }
  return best;
}

void PointMarksItem::draw_text(QCPPainter& painter, const QRectF& box, const QString& text,
                               const QColor& colour) const {
  painter.setPen(QPen(colour));
  painter.drawText(QPointF(box.left(), box.top() + QFontMetricsF(look_.font).ascent()), text);
}

void PointMarksItem::draw(QCPPainter* painter) {
  const QRectF frame(axes_.rect());
  painter->setAntialiasing(true);
  for (const Point& point : points_) {
    const QPointF at = pixel(point);
    if (!point.drop_lines) continue;
    QPen pen(point.colour, look_.line_width, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({3, 3});
    painter->setPen(pen);
    painter->drawLine(at, QPointF(at.x(), frame.bottom()));
  }
  painter->setFont(look_.font);
  const QFontMetricsF metrics(look_.font);
  const std::vector<QLineF> curves = segments_in(axes_);
  std::vector<QRectF> taken = legends();
  const std::vector<QRectF> boxes = placed_texts(metrics, curves, taken);
  for (const RuleText& rule : rules_) {
    const QRectF box = placed_rule_text(rule, metrics, curves, taken);
    draw_text(*painter, box.adjusted(look_.gap, 0, 0, 0), rule.text, rule.colour);
    taken.push_back(box);
  }
  for (std::size_t index = 0; index < points_.size(); ++index) {
    const Point& point = points_[index];
    const QPointF at = pixel(point);
    painter->setPen(QPen(look_.background, look_.line_width));
    painter->setBrush(point.colour);
    painter->drawEllipse(at, look_.marker_size / 2, look_.marker_size / 2);
    if (point.text.isEmpty()) continue;
    if (look_.background.alpha() > 0) painter->fillRect(boxes[index], look_.background);
    draw_text(*painter, boxes[index], point.text, point.colour);
  }
}

// ---- axes, curves and cells ----

QSharedPointer<QCPAxisTickerText> text_ticker(const std::vector<Tick>& ticks) {
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  for (const Tick& tick : ticks) ticker->addTick(tick.value, QString::fromStdString(tick.label));
  return ticker;
}

void set_one_axis(QCPAxis& axis, QCPAxis& opposite, const Axis& wanted, const AxisRange& range,
                  const Pens& pens) {
  style_axis(axis, pens);
  axis.setScaleType(wanted.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  axis.setRange(range.lower, range.upper);
  opposite.setVisible(false);
  axis.setLabel(QString::fromStdString(wanted.label));
  if (!wanted.ticks.empty()) {
    axis.setTicker(text_ticker(wanted.ticks));
    axis.setSubTicks(false);
  } else if (wanted.logarithmic) {
    QSharedPointer<QCPAxisTickerLog> ticker(new QCPAxisTickerLog);
    ticker->setSubTickCount(8);
    axis.setTicker(ticker);
    axis.setNumberFormat("eb");
    axis.setNumberPrecision(0);
  } else {
    QSharedPointer<QCPAxisTicker> ticker(new QCPAxisTicker);
    ticker->setTickCount(usual_ticks);
    axis.setTicker(ticker);
    axis.setSubTicks(false);
    axis.setNumberFormat("gb");
  }
  if (wanted.turned_ticks) axis.setTickLabelRotation(-90);
  if (!wanted.visible) {
    axis.setTicks(false);
    axis.setTickLabels(false);
    axis.setBasePen(Qt::NoPen);
  }
}

QVector<double> list(const std::vector<double>& values) { return {values.begin(), values.end()}; }

QCPScatterStyle scatter(MarkerShape shape, const QColor& colour, const Pens& pens) {
  const auto styled = [&](QCPScatterStyle::ScatterShape qcp_shape, double size_pt) {
    return QCPScatterStyle(qcp_shape, pens.pen(colour, 0.5), QBrush(colour), pens.pixels(size_pt));
  };
  switch (shape) {
    case MarkerShape::none:
      return {};
    case MarkerShape::circle:
      return styled(QCPScatterStyle::ssDisc, 2.6);
    case MarkerShape::square:
      return styled(QCPScatterStyle::ssSquare, 2.4);
    case MarkerShape::triangle:
      return styled(QCPScatterStyle::ssTriangle, 3.0);
    case MarkerShape::diamond:
      return styled(QCPScatterStyle::ssDiamond, 3.2);
    case MarkerShape::cross:
      return styled(QCPScatterStyle::ssCross, 2.6);
  }
  return {};
}

/// A line whose points were cut to the axes. The edges of the axes do not cut its markers and the
/// width of its pen in half.
class UncutGraph final : public QCPGraph {
 public:
  UncutGraph(QCPAxis* x, QCPAxis* y, const Pens& pens)
      : QCPGraph(x, y), beyond_(static_cast<int>(std::ceil(pens.pixels(kHalfMarkerPt)))) {}

 protected:
  [[nodiscard]] QRect clipRect() const override {
    return QCPGraph::clipRect().adjusted(-beyond_, -beyond_, beyond_, beyond_);
  }

 private:
  static constexpr double kHalfMarkerPt = 2;
  int beyond_;
};

bool turns_back(const std::vector<double>& x) {
  return std::adjacent_find(x.begin(), x.end(),
                            [](double left, double right) { return right < left; }) != x.end();
}

/// Adds the marks of one panel; one overload per kind of mark.
class PanelMarks {
 public:
  PanelMarks(QCPAxisRect& axes, const Panel& panel, const Pens& pens, QCPLegend* legend)
      : axes_(axes),
        plot_(*axes.parentPlot()),
        x_(axes.axis(QCPAxis::atBottom)),
        y_(axes.axis(QCPAxis::atLeft)),
        pens_(pens),
        legend_(legend) {
    const PanelRange range = range_of(panel);
    window_ = {range.x.lower, range.x.upper,       range.y.lower,
               range.y.upper, panel.x.logarithmic, panel.y.logarithmic};
  }

  void add_all(const Panel& panel) {
    std::vector<CellDrawing> drawings = cell_drawings(panel, pens_.figure.colour_scales);
    auto drawing = drawings.begin();
    for (std::size_t index = 0; index < panel.marks.size(); ++index) {
      if (drawing != drawings.end() && drawing->first_mark == index) {
        new CellsPlottable(x_, y_, std::move(drawing->cells), pens_.options.heat_maps_as_pixels);
        index += drawing->marks_used - 1;
        ++drawing;
      } else {
        std::visit([this](const auto& mark) { add(mark); }, panel.marks[index]);
      }
    }
    if (!points_.empty() || !rule_texts_.empty()) {
      PointMarksItem::Look look;
      look.font = pens_.font(pens_.small_pt);
      look.background =
          pens_.options.transparent ? QColor(Qt::transparent) : pens_.theme.background;
      look.line_width = pens_.pixels(0.6);
      look.marker_size = pens_.pixels(3.4);
      look.gap = pens_.pixels(1.5);
      new PointMarksItem(axes_, points_, rule_texts_, look);  // owned by the plot
    }
  }

 private:
  [[nodiscard]] QColor colour(const Colour& of) const { return ink(of, pens_.options.theme); }

  void into_legend(QCPAbstractPlottable* plottable, const std::string& label) {
    plottable->setName(QString::fromStdString(label));
    if (legend_ == nullptr || label.empty()) return;
    // A legend shared by several panels lists each series once.
    for (int i = 0; i < legend_->itemCount(); ++i) {
      auto* item = qobject_cast<QCPPlottableLegendItem*>(legend_->item(i));
      if (item != nullptr && item->plottable()->name() == plottable->name() &&
          item->plottable()->pen() == plottable->pen() &&
          item->plottable()->brush() == plottable->brush()) {
        return;
      }
    }
    plottable->addToLegend(legend_);
  }

  QCPGraph* graph() { return adjusted(new QCPGraph(x_, y_)); }

  static QCPGraph* adjusted(QCPGraph* added) {
    added->setAdaptiveSampling(false);
    added->setSelectable(QCP::stNone);
    return added;
  }

  void add(const Line& line) {
    const bool drawn = line.style != LineStyle::none;
    const Polyline shown =
        drawn ? cut(line.x, line.y, window_) : points_inside(line.x, line.y, window_);
    if (drawn && turns_back(shown.x)) return add_outline(line, shown);
    QCPGraph* added = adjusted(new UncutGraph(x_, y_, pens_));
    added->setData(list(shown.x), list(shown.y), std::is_sorted(shown.x.begin(), shown.x.end()));
    added->setLineStyle(drawn ? QCPGraph::lsLine : QCPGraph::lsNone);
    added->setPen(pens_.pen(colour(line.colour), line.width_pt, line.style));
    const bool marked = line.marker != MarkerShape::none;
    if (!drawn || (marked && shown.x.size() == line.x.size())) {
      added->setScatterStyle(scatter(line.marker, colour(line.colour), pens_));
    } else if (marked) {
      // Markers are drawn only at the data's points, not where the line was cut.
      const Polyline points = points_inside(line.x, line.y, window_);
      QCPGraph* markers = adjusted(new UncutGraph(x_, y_, pens_));
      markers->setData(list(points.x), list(points.y));
      markers->setLineStyle(QCPGraph::lsNone);
      markers->setScatterStyle(scatter(line.marker, colour(line.colour), pens_));
    }
    into_legend(added, line.label);
  }

  /// Adds a line that turns back in x, such as a frame; a graph would sort its points by x.
  void add_outline(const Line& line, const Polyline& shown) {
    auto* added = new QCPCurve(x_, y_);
    added->setSelectable(QCP::stNone);
    added->setData(list(shown.x), list(shown.y));
    added->setPen(pens_.pen(colour(line.colour), line.width_pt, line.style));
    if (shown.x.size() == line.x.size()) {
      added->setScatterStyle(scatter(line.marker, colour(line.colour), pens_));
    }
    into_legend(added, line.label);
  }

  void add(const Band& band) {
    const Polyline low = cut(band.x, band.low, window_);
    const Polyline high = cut(band.x, band.high, window_);
    QCPGraph* bottom = graph();
    QCPGraph* top = graph();
    bottom->setData(list(low.x), list(low.y), true);
    top->setData(list(high.x), list(high.y), true);
    bottom->setPen(Qt::NoPen);
    top->setPen(Qt::NoPen);
    top->setBrush(colour(band.colour));
    top->setChannelFillGraph(bottom);
    into_legend(top, band.label);
  }

  void add(const PointMark& point) {
    points_.push_back({point.x, point.y, QString::fromStdString(point.text), colour(point.colour),
                       point.drop_lines});
  }

  void add(const Rule& rule) {
    QCPGraph* line = graph();
    const QVector<double> at(2, rule.at);
    if (rule.vertical) {
      line->setData(at, {window_.y_low, window_.y_high}, true);
    } else {
      line->setData({window_.x_low, window_.x_high}, at, true);
    }
    line->setPen(pens_.pen(colour(rule.colour), 0.6, rule.style));
    line->setProperty("rule", true);
    if (rule.text.empty()) return;
    if (!rule.vertical) {
      rule_texts_.push_back({rule.at, QString::fromStdString(rule.text), colour(rule.colour)});
      return;
    }
    auto* text = new QCPItemText(&plot_);
    text->setText(QString::fromStdString(rule.text));
    place_text(*text, rule.at, window_.y_high, Qt::AlignLeft | Qt::AlignTop, colour(rule.colour));
  }

  // Both kinds are drawn as cells.
  void add(const HeatMap&) {}
  void add(const Picture&) {}

  void add(const Bars& bars) {
    auto* added = new QCPBars(x_, y_);
    added->setData(list(bars.x), list(bars.heights));
    added->setWidth(bars.width);
    added->setPen(Qt::NoPen);
    added->setBrush(colour(bars.colour));
    added->setSelectable(QCP::stNone);
    // Only bars at the same positions are stacked; groups next to each other start at the axis.
    const auto under = std::find_if(bars_.rbegin(), bars_.rend(), [&](const auto& earlier) {
      return std::ranges::find_first_of(bars.x, earlier.places) != bars.x.end();
    });
    if (under != bars_.rend()) added->moveAbove(under->bars);
    bars_.push_back({added, bars.x});
    into_legend(added, bars.label);
  }

  void add(const TextMark& mark) {
    auto* text = new QCPItemText(&plot_);
    text->setText(QString::fromStdString(mark.text));
    const QColor colour = mark.colour ? QColor(mark.colour->red, mark.colour->green,
                                               mark.colour->blue, mark.colour->alpha)
                                      : QColor(pens_.theme.text);
    const auto across = mark.align == TextAlign::start ? Qt::AlignLeft : Qt::AlignHCenter;
    place_text(*text, mark.x, mark.y, across | Qt::AlignVCenter, colour);
  }

  void place_text(QCPItemText& text, double x, double y, Qt::Alignment alignment,
                  const QColor& text_colour) {
    text.setClipToAxisRect(false);
    text.setFont(pens_.font(pens_.small_pt));
    text.setColor(text_colour);
    text.setPadding(
        QMargins(pens_.pixels(1.5), pens_.pixels(0.5), pens_.pixels(1.5), pens_.pixels(0.5)));
    text.setPositionAlignment(alignment);
    text.position->setAxes(x_, y_);
    text.position->setAxisRect(&axes_);
    text.position->setType(QCPItemPosition::ptPlotCoords);
    text.position->setCoords(x, y);
    text.setSelectable(false);
  }

  struct StackedBars {
    QCPBars* bars;
    std::vector<double> places;
  };

  QCPAxisRect& axes_;
  QCustomPlot& plot_;
  QCPAxis* x_;
  QCPAxis* y_;
  const Pens& pens_;
  QCPLegend* legend_;
  PlotWindow window_;
  std::vector<PointMarksItem::Point> points_;
  std::vector<PointMarksItem::RuleText> rule_texts_;
  std::vector<StackedBars> bars_;
};

}  // namespace

void add_marks(QCPAxisRect& axes, const Panel& panel, const Pens& pens, QCPLegend* legend) {
  PanelMarks(axes, panel, pens, legend).add_all(panel);
}

void style_axis(QCPAxis& axis, const Pens& pens) {
  axis.setBasePen(pens.pen(pens.theme.axis, 0.5));
  axis.setTickPen(pens.pen(pens.theme.axis, 0.5));
  axis.setSubTickPen(pens.pen(pens.theme.axis, 0.35));
  axis.setTickLength(0, pens.pixels(2));
  axis.setSubTickLength(0, pens.pixels(1.2));
  axis.setTickLabelFont(pens.font(pens.small_pt));
  axis.setTickLabelColor(pens.theme.text);
  axis.setTickLabelPadding(pens.pixels(1.5));
  axis.setLabelFont(pens.font(pens.base_pt));
  axis.setLabelColor(pens.theme.text);
  axis.setLabelPadding(pens.pixels(2));
  axis.setPadding(pens.pixels(0.5));
  axis.grid()->setVisible(false);
}

void set_axes(QCPAxisRect& axes, const Panel& panel, const Pens& pens) {
  const PanelRange range = range_of(panel);
  QCPAxis& x = *axes.axis(QCPAxis::atBottom);
  QCPAxis& y = *axes.axis(QCPAxis::atLeft);
  QCPAxis& top = *axes.axis(QCPAxis::atTop);
  QCPAxis& right = *axes.axis(QCPAxis::atRight);
  set_one_axis(x, top, panel.x, range.x, pens);
  set_one_axis(y, right, panel.y, range.y, pens);
  y.setRangeReversed(panel.reversed_y);

  // A label that the plot's edge would clip is left out, and half of the topmost label is above the
  // frame. The layout, which knows the frame's width, handles overhang at the sides.
  const int over_top = panel.y.visible ? pens.pixels(0.65 * pens.small_pt) : 0;
  const int least = pens.pixels(0.5);
  axes.setMinimumMargins(QMargins(least, over_top, least, least));

  if (panel.square_cells) {  // a frame on all sides
    for (QCPAxis* axis : {&x, &y, &top, &right}) {
      axis->setVisible(true);
      axis->setBasePen(pens.pen(pens.theme.faint, 0.35));
      axis->grid()->setVisible(false);
    }
    for (QCPAxis* axis : {&top, &right}) {
      axis->setTicks(false);
      axis->setTickLabels(false);
    }
  }
}

void set_bar_axis(QCPAxis& axis, const ColourScale& scale, const Pens& pens) {
  style_axis(axis, pens);
  axis.setVisible(true);
  axis.setTicks(true);
  axis.setTickLabels(true);
  axis.setLabel(QString::fromStdString(scale.label));
  double low = scale.minimum;
  const double high = scale.maximum > low ? scale.maximum : low + 1;
  switch (scale.norm) {
    case ScaleNorm::linear: {
      QSharedPointer<QCPAxisTicker> ticker(new QCPAxisTicker);
      ticker->setTickCount(5);
      axis.setTicker(ticker);
      axis.setSubTicks(false);
      axis.setNumberFormat("gb");
      axis.setRange(low, high);
      break;
    }
    case ScaleNorm::logarithmic: {
      low = logarithmic_floor(low, high);
      QSharedPointer<QCPAxisTickerLog> ticker(new QCPAxisTickerLog);
      ticker->setSubTickCount(8);
      axis.setTicker(ticker);
      axis.setScaleType(QCPAxis::stLogarithmic);
      axis.setNumberFormat("eb");
      axis.setNumberPrecision(0);
      axis.setRange(low > 0 ? low : high / 10, high);
      break;
    }
    case ScaleNorm::symmetric_logarithmic:
      axis.setTicker(text_ticker(bar_ticks(scale)));
      axis.setSubTicks(false);
      axis.setRange(0, 1);
      break;
  }
}

}  // namespace attnscope
