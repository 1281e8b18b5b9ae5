#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/figure/colour_map.h"
#include "app/render/panel.h"

namespace attnscope {

namespace {

/// The extent of what was included so far; only positive values on a logarithmic axis.
struct Extent {
  bool positive_only = false;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value) || (positive_only && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void include(const std::vector<double>& values) {
    for (const double value : values) include(value);
  }
};

/// `pad`: a share of the extent left free on both sides.
QCPRange range_from(const Axis& axis, Extent extent, double pad) {
  if (extent.low > extent.high) extent.low = axis.logarithmic ? 1 : 0, extent.high = 1;
  if (axis.logarithmic) {
    const double factor = std::pow(std::max(extent.high / extent.low, 1.01), pad);
    extent.low /= factor;
    extent.high *= factor;
  } else {
    const double room = extent.high > extent.low ? (extent.high - extent.low) * pad
                                                 : std::max(std::abs(extent.high), 1.0) / 2;
    extent.low -= room;
    extent.high += room;
  }
  return {axis.minimum.value_or(extent.low), axis.maximum.value_or(extent.high)};
}

void include_mark(const Mark& mark, Extent& x, Extent& y, bool& fills) {
  if (const auto* line = std::get_if<Line>(&mark)) {
    x.include(line->x);
    y.include(line->y);
  } else if (const auto* band = std::get_if<Band>(&mark)) {
    x.include(band->x);
    y.include(band->low);
    y.include(band->high);
  } else if (const auto* point = std::get_if<PointMark>(&mark)) {
    x.include(point->x);
    y.include(point->y);
  } else if (const auto* rule = std::get_if<Rule>(&mark)) {
    (rule->vertical ? x : y).include(rule->at);
  } else if (const auto* bars = std::get_if<Bars>(&mark)) {
    for (const double at : bars->x) {
      x.include(at - bars->width);
      x.include(at + bars->width);
    }
    y.include(0);
    y.include(bars->heights);
  } else if (const auto* map = std::get_if<HeatMap>(&mark)) {
    fills = true;
    x.include(-0.5);
    x.include(static_cast<double>(map->columns) - 0.5);
    y.include(-0.5);
    y.include(static_cast<double>(map->rows) - 0.5);
  } else if (const auto* picture = std::get_if<Picture>(&mark)) {
    fills = true;
    x.include(-0.5);
    x.include(static_cast<double>(picture->image.width) - 0.5);
    y.include(-0.5);
    y.include(static_cast<double>(picture->image.height) - 0.5);
  }
}

/// Stacked bars reach the sum of their heights.
void include_stacks(const Panel& panel, Extent& y) {
  std::map<double, double> sums;
  for (const Mark& mark : panel.marks) {
    if (const auto* bars = std::get_if<Bars>(&mark)) {
      for (std::size_t i = 0; i < std::min(bars->x.size(), bars->heights.size()); ++i) {
        sums[bars->x[i]] += bars->heights[i];
      }
    }
  }
  for (const auto& [x, sum] : sums) y.include(sum);
}

QSharedPointer<QCPAxisTickerText> text_ticker(const std::vector<Tick>& ticks) {
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  for (const Tick& tick : ticks) ticker->addTick(tick.value, QString::fromStdString(tick.label));
  return ticker;
}

void set_one_axis(QCPAxis& axis, QCPAxis& opposite, const Axis& wanted, const QCPRange& range,
                  const Pens& pens) {
  style_axis(axis, pens);
  axis.setScaleType(wanted.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  axis.setRange(range);
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
    ticker->setTickCount(5);
    axis.setTicker(ticker);
    axis.setSubTicks(false);
    axis.setNumberFormat("gb");
  }
  if (!wanted.visible) {
    axis.setTicks(false);
    axis.setTickLabels(false);
    axis.setBasePen(Qt::NoPen);
  }
}

}  // namespace

PanelRange range_of(const Panel& panel) {
  Extent x{panel.x.logarithmic};
  Extent y{panel.y.logarithmic};
  bool fills = false;
  const bool has_map = std::any_of(panel.marks.begin(), panel.marks.end(), [](const Mark& mark) {
    return std::holds_alternative<HeatMap>(mark);
  });
  for (const Mark& mark : panel.marks) {
    // A heat map's cells count, not the pixels of the picture under it.
    if (has_map && std::holds_alternative<Picture>(mark)) continue;
    include_mark(mark, x, y, fills);
  }
  include_stacks(panel, y);
  return {range_from(panel.x, x, 0), range_from(panel.y, y, fills ? 0 : 0.05)};
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

  // A label that the plot's edge would cut is left out: the topmost one stands half above the
  // frame. (What reaches past its sides is for the layout, which knows its width.)
  const int over_top = panel.y.visible ? pens.pixels(0.65 * pens.small_pt) : 0;
  const int least = pens.pixels(0.5);
  axes.setMinimumMargins(QMargins(least, over_top, least, least));

  if (panel.square_cells) {  // a frame all round
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
    case ScaleNorm::symmetric_logarithmic: {
      // Zero and powers of ten, each where its value lies.
      const double size = std::max(std::abs(low), std::abs(high));
      std::vector<Tick> ticks;
      const auto add = [&](double value, const std::string& label) {
        if (value >= low && value <= high) ticks.push_back({*fraction_of(scale, value), label});
      };
      add(0, "0");
      const int decade = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
      for (int power = decade; power > decade - 3; --power) {
        const double value = std::pow(10, power);
        const std::string label = QLocale::c().toString(value, 'g', 3).toStdString();
        add(value, label);
        add(-value, "−" + label);
      }
      axis.setTicker(text_ticker(ticks));
      axis.setSubTicks(false);
      axis.setRange(0, 1);
      break;
    }
  }
}

}  // namespace attnscope
