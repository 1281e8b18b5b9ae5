#include "app/render/cells_plottable.h"

namespace attnscope {

namespace {

/// The range of a plottable that always fills its panel: none.
QCPRange no_range(bool& found) {
  found = false;
  return {};
}

}  // namespace

QCPRange CellsPlottable::getKeyRange(bool& found, QCP::SignDomain) const { return no_range(found); }

QCPRange CellsPlottable::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
  return no_range(found);
}

void CellsPlottable::draw(QCPPainter* painter) {
  const QRectF frame(keyAxis()->axisRect()->rect());
  if (!painter->modes().testFlag(QCPPainter::pmVectorized)) {
    painter->setAntialiasing(false);  // antialiasing would shift the drawing by half a pixel
    draw_resampled(*painter, cells_, frame);
  } else if (as_pixels_) {
    draw_as_pixels(*painter, cells_, frame);
  } else {
    draw_as_areas(*painter, cells_, frame);
  }
}

/// Extends the clip rect by one pixel, because QCustomPlot moves it up by one, which would clip the
/// last row.
QRect CellsPlottable::clipRect() const {
  return keyAxis()->axisRect()->rect().adjusted(0, 0, 0, 1);
}

QCPRange GradientPlottable::getKeyRange(bool& found, QCP::SignDomain) const {
  return no_range(found);
}

QCPRange GradientPlottable::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
  return no_range(found);
}

void GradientPlottable::draw(QCPPainter* painter) {
  const QRectF frame(keyAxis()->axisRect()->rect());
  QLinearGradient gradient(frame.bottomLeft(), frame.topLeft());
  constexpr int stops = 52;  // every fifth colour, between which the colour maps are linear
  for (int stop = 0; stop < stops; ++stop) {
    const double fraction = stop / static_cast<double>(stops - 1);
    const Colour colour = colours_(fraction);
    gradient.setColorAt(fraction, QColor(colour.red, colour.green, colour.blue));
  }
  painter->save();
  painter->setPen(Qt::NoPen);
  painter->setBrush(gradient);
  painter->drawRect(frame);
  if (clipping_.above) draw_arrow(*painter, frame, true);
  if (clipping_.below) draw_arrow(*painter, frame, false);
  painter->restore();
}

void GradientPlottable::draw_arrow(QCPPainter& painter, const QRectF& frame, bool up) const {
  const double base = up ? frame.top() : frame.bottom();
  const double tip = up ? base - arrow_height_ : base + arrow_height_;
  const Colour colour = colours_(up ? 1 : 0);
  painter.setPen(outline_);
  painter.setBrush(QColor(colour.red, colour.green, colour.blue));
  painter.drawPolygon(QPolygonF({QPointF(frame.left(), base), QPointF(frame.center().x(), tip),
                                 QPointF(frame.right(), base)}));
}

QRect GradientPlottable::clipRect() const {
  return keyAxis()->axisRect()->rect().adjusted(-1, -arrow_height_ - 1, 1, arrow_height_ + 1);
}

}  // namespace attnscope
