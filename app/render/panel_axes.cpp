#include <algorithm>
#include <cmath>

#include "analysis/figure/axis_range.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/ticks.h"
#include "app/render/panel.h"

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

}  // namespace

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
