#include <QFontMetricsF>
#include <QLinearGradient>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>

#include "analysis/figure/colour_map.h"
#include "app/canvas/chrome_parts.h"

namespace attnscope {

void paint_colour_bar(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  const QRectF area = scene.frame.colour_bar;
  const QFont face = sized(font, 10);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  QString label = scene.value_name;
  if (scene.scale.norm == ScaleNorm::logarithmic) label += ", log";
  if (scene.scale.norm == ScaleNorm::symmetric_logarithmic) label += ", symlog";
  const double label_width = metrics.horizontalAdvance(label) + 10;
  double right = area.right() - 8;
  if (scene.without_values) {
    const QString text = "no value";
    right -= metrics.horizontalAdvance(text);
    painter.setPen(scene.colours->muted);
    painter.drawText(QRectF(right, area.top(), 80, 12), Qt::AlignLeft | Qt::AlignVCenter, text);
    right -= 18;
    const QRectF swatch(right, area.top(), 14, 11);
    painter.fillRect(swatch, scene.colours->raised);
    painter.setPen(QPen(scene.colours->border, 1));
    for (int x = -8; x < 14; x += 4) {
      painter.save();
      painter.setClipRect(swatch);
      painter.setPen(QPen(scene.colours->muted, 1.5));
      painter.drawLine(swatch.bottomLeft() + QPointF(x, 0),
                       swatch.bottomLeft() + QPointF(x + 12, -12));
      painter.restore();
    }
    right -= 14;
  }
  painter.setPen(scene.colours->muted);
  painter.drawText(QRectF(area.left(), area.top() - 1, label_width, 12),
                   Qt::AlignLeft | Qt::AlignVCenter, label);
  const QRectF bar(area.left() + label_width + 8, area.top(), right - area.left() - label_width - 8,
                   11);
  if (bar.width() < 40) return;
  const ColourMap& colours = find_colour_map(scene.scale.colour_map);
  const auto colour = [&](double fraction) {
    const Colour c = colour_at(colours, fraction, scene.scale.reversed);
    return QColor(c.red, c.green, c.blue);
  };
  QLinearGradient gradient(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 32; ++i) gradient.setColorAt(i / 32.0, colour(i / 32.0));
  painter.fillRect(bar, gradient);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  // Pointed ends: there are values beyond, drawn in the last colour.
  const double tip = 7, middle = bar.center().y();
  if (scene.range.clips_above) {
    painter.setBrush(colour(1));
    painter.drawPolygon(
        QPolygonF({bar.topRight(), {bar.right() + tip, middle}, bar.bottomRight()}));
  }
  if (scene.range.clips_below) {
    painter.setBrush(colour(0));
    painter.drawPolygon(QPolygonF({bar.topLeft(), {bar.left() - tip, middle}, bar.bottomLeft()}));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
  double free_from = area.left();
  for (const Tick& tick : colour_bar_ticks(scene.scale, bar.width(), 52)) {
    const auto fraction = fraction_of(scene.scale, tick.value);
    if (!fraction) continue;
    const double x = bar.left() + *fraction * bar.width();
    const QString text = QString::fromStdString(tick.label);
    const double half = metrics.horizontalAdvance(text) / 2;
    const double left = std::min(x - half, area.right() - 2 * half);
    if (left < free_from) continue;
    free_from = left + 2 * half + 6;
    painter.setPen(QPen(scene.colours->muted, 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3));
    painter.drawText(QRectF(left, bar.bottom() + 3, 2 * half + 1, metrics.height()),
                     Qt::AlignCenter, text);
  }
  // Where on the scale the value under the cursor lies.
  if (scene.crosshair && scene.maps) {
    const auto fraction = fraction_of(scene.scale, scene.maps->value(*scene.crosshair));
    if (fraction) {
      const double x = bar.left() + *fraction * bar.width();
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(scene.colours->window, 1));
      painter.setBrush(scene.colours->text);
      painter.drawPolygon(
          QPolygonF({{x - 5, bar.top() - 4}, {x + 5, bar.top() - 4}, {x, bar.top() + 4}}));
      painter.setBrush(Qt::NoBrush);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
  }
}

}  // namespace attnscope
