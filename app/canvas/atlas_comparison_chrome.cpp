// Comparison parts of an atlas's chrome: the divider of a wipe, and text in place of maps without a
// counterpart.
#include <QPainter>
#include <QPolygonF>

#include "app/canvas/chrome_parts.h"

namespace attnscope {

void paint_empty_maps(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (scene.maps->compared_with() == nullptr) return;
  painter.setFont(sized(font, 11));
  const AtlasGrid grid = scene.grid();
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = map_on_screen(scene, layer, column);
      if (!map.intersects(scene.frame.viewport)) continue;
      const std::string why = scene.maps->why_empty(layer, column);
      if (why.empty()) continue;
      painter.setPen(QPen(scene.colours->border, 1, Qt::DashLine));
      painter.drawRect(map.adjusted(0.5, 0.5, -0.5, -0.5));
      if (map.width() < 56) continue;
      painter.setPen(scene.colours->muted);
      painter.drawText(map.adjusted(4, 4, -4, -4),
                       static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
                       QString::fromStdString(why));
    }
  }
}

void paint_wipe(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  if (!scene.wipe) return;
  const QRectF viewport = scene.frame.viewport;
  const double x = *scene.wipe;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(QColor(0, 0, 0, 150), 4));
  painter.drawLine(QPointF(x, viewport.top()), QPointF(x, viewport.bottom()));
  painter.setPen(QPen(QColor(255, 255, 255, 235), 1.6));
  painter.drawLine(QPointF(x, viewport.top()), QPointF(x, viewport.bottom()));
  const double y = viewport.center().y();
  painter.setPen(QPen(QColor(0, 0, 0, 150), 1));
  painter.setBrush(QColor(255, 255, 255, 235));
  painter.drawRoundedRect(QRectF(x - 7, y - 16, 14, 32), 5, 5);
  painter.setBrush(QColor(0x20, 0x26, 0x2e));
  painter.setPen(Qt::NoPen);
  for (const double side : {-1.0, 1.0}) {
    painter.drawPolygon(
        QPolygonF({{x + side * 1.5, y - 4.5}, {x + side * 5, y}, {x + side * 1.5, y + 4.5}}));
  }
  painter.setFont(sized(font, 11, true));
  const auto badge = [&](const QString& number, const QColor& colour, double left) {
    const QRectF box(left, viewport.top() + 4, 18, 18);
    painter.setPen(QPen(QColor(0, 0, 0, 120), 1));
    painter.setBrush(colour);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(colour.lightnessF() > 0.5F ? QColor(0x101418) : QColor(Qt::white));
    painter.drawText(box, Qt::AlignCenter, number);
  };
  if (x - viewport.left() > 26) badge(scene.reference_number, scene.reference_colour, x - 24);
  if (viewport.right() - x > 26) badge(scene.number, scene.subject_colour, x + 6);
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace attnscope
