#include "app/render/panel.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/polyline.h"
#include "analysis/figure/ticks.h"
#include "app/render/cells_plottable.h"
#include "app/render/point_marks.h"

namespace attnscope {

namespace {

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

  QCPGraph* graph() {
    auto* added = new QCPGraph(x_, y_);
    added->setAdaptiveSampling(false);
    added->setSelectable(QCP::stNone);
    return added;
  }

  void add(const Line& line) {
    const bool drawn = line.style != LineStyle::none;
    const Polyline shown =
        drawn ? cut(line.x, line.y, window_) : points_inside(line.x, line.y, window_);
    if (drawn && turns_back(shown.x)) return add_outline(line, shown);
    QCPGraph* added = graph();
    added->setData(list(shown.x), list(shown.y), std::is_sorted(shown.x.begin(), shown.x.end()));
    added->setLineStyle(drawn ? QCPGraph::lsLine : QCPGraph::lsNone);
    added->setPen(pens_.pen(colour(line.colour), line.width_pt, line.style));
    const bool marked = line.marker != MarkerShape::none;
    if (!drawn || (marked && shown.x.size() == line.x.size())) {
      added->setScatterStyle(scatter(line.marker, colour(line.colour), pens_));
    } else if (marked) {
      // Markers are drawn only at the data's points, not where the line was cut.
      const Polyline points = points_inside(line.x, line.y, window_);
      QCPGraph* markers = graph();
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
