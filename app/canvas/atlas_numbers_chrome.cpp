// The number of each map in its corner, on a background coloured by its value, and the map's name
// in the other corner if maps are sorted.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "app/canvas/chrome_parts.h"

namespace attnscope {

namespace {

/// Background colour of a number, from the least to the greatest, through a colour map that also
/// works in greyscale.
class NumberGround {
 public:
  NumberGround(double least, double greatest) : least_(least), greatest_(greatest) {}

  struct Inks {
    QColor paper, ink;
  };
  [[nodiscard]] Inks of(const PrintedNumber& number) const {
    if (std::isnan(number.value) || !(greatest_ > least_)) {
      return {QColor(0, 0, 0, 165), QColor(255, 255, 255)};
    }
    const Colour paper = colour_at(find_colour_map("cividis"),
                                   (number.value - least_) / (greatest_ - least_), false);
    const Colour ink = legible_on(paper);
    return {QColor(paper.red, paper.green, paper.blue), QColor(ink.red, ink.green, ink.blue)};
  }

 private:
  double least_, greatest_;
};

}  // namespace

void paint_map_numbers(QPainter& painter, const AtlasScene& scene, const QFont& font) {
  constexpr double kLeastSide = 44, kGauge = 3, kInside = 3;  // pixels
  if (scene.numbers.empty() || scene.zoom.scale < kLeastSide) return;
  const AtlasGrid grid = scene.grid();
  const NumberGround ground(scene.least_number, scene.greatest_number);
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
      const auto [paper, ink] = ground.of(*number);
      painter.fillRect(box, paper);
      painter.setPen(ink);
      painter.drawText(box, Qt::AlignCenter, number->text);
      if (!grid.order) continue;
      const QString name = QString("%1 · %2").arg(layer).arg(column);
      const QRectF corner(map.topLeft(),
                          QSizeF(metrics.horizontalAdvance(name) + 2 * kInside, box.height()));
      if (corner.width() > map.width()) continue;
      painter.fillRect(corner, QColor(0, 0, 0, 165));
      painter.setPen(QColor(255, 255, 255));
      painter.drawText(corner, Qt::AlignCenter, name);
    }
  }
}

}  // namespace attnscope
