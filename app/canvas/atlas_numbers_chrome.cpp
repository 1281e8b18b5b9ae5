// The number of each map, in its corner.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "app/canvas/chrome_parts.h"

namespace attnscope {

void paint_map_numbers(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  constexpr double kLeastSide = 44, kGauge = 3, kInside = 3;  // pixels
  if (scene.numbers.empty() || scene.zoom.scale < kLeastSide) return;
  const AtlasGrid grid = scene.grid();
  const QFont face = sized(font, scene.zoom.scale < 80 ? 10 : 11, true);
  const QFontMetricsF metrics(face);
  painter.setFont(face);
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const auto& number = scene.numbers[static_cast<std::size_t>(layer * grid.columns + column)];
      const QRectF map = map_on_screen(scene, layer, column);
      if (!number || !map.intersects(scene.frame.viewport)) continue;
      const QRectF gauge(map.left(), map.bottom() - kGauge, map.width(), kGauge);
      painter.fillRect(gauge, QColor(0, 0, 0, 120));
      painter.fillRect(QRectF(gauge.topLeft(), QSizeF(gauge.width() * number->share, kGauge)),
                       QColor(255, 255, 255, 220));
      const double width = metrics.horizontalAdvance(number->text) + 2 * kInside;
      const QRectF box(map.right() - width, gauge.top() - metrics.height() + 1, width,
                       metrics.height() - 1);
      painter.fillRect(box, QColor(0, 0, 0, 165));
      painter.setPen(QColor(255, 255, 255));
      painter.drawText(box, Qt::AlignCenter, number->text);
    }
  }
}

}  // namespace attnscope
