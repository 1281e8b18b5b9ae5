#include "app/render/draw_cells.h"

#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <map>

namespace attnscope {

namespace {

QImage as_image(const Cells& cells) {
  QImage image(static_cast<int>(cells.columns), static_cast<int>(cells.rows), QImage::Format_RGB32);
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(row)));
    for (std::int64_t column = 0; column < cells.columns; ++column) {
      line[column] = 0xff000000U | cells.at(row, column);
    }
  }
  return image;
}

}  // namespace

void draw_as_areas(QPainter& painter, const Cells& cells, const QRectF& frame) {
  if (cells.rows == 0 || cells.columns == 0) return;
  const double width = frame.width() / static_cast<double>(cells.columns);
  const double height = frame.height() / static_cast<double>(cells.rows);
  constexpr double overlap = 0.15;  // of a cell: invisible, and wider than a reader's rounding

  // A run is a horizontal stroke as thick as the row: half the bytes of a rectangle. The last row
  // has no neighbour to reach under, hence its own thickness.
  struct Strokes {
    QPainterPath upper, last;
  };
  std::map<std::uint32_t, Strokes> by_colour;
  const std::uint32_t background = commonest_colour(cells);
  for_each_run(cells, background,
               [&](std::int64_t row, std::int64_t first, std::int64_t end, std::uint32_t colour) {
                 const bool is_last = row + 1 == cells.rows;
                 const double thickness = is_last ? height : height * (1 + overlap);
                 const double y = frame.top() + static_cast<double>(row) * height + thickness / 2;
                 const double reach = end == cells.columns ? 0 : overlap * width;
                 Strokes& strokes = by_colour[colour];
                 QPainterPath& path = is_last ? strokes.last : strokes.upper;
                 path.moveTo(frame.left() + static_cast<double>(first) * width, y);
                 path.lineTo(frame.left() + static_cast<double>(end) * width + reach, y);
               });

  painter.save();
  painter.fillRect(frame, QColor::fromRgb(background));
  painter.setBrush(Qt::NoBrush);
  for (const auto& [colour, strokes] : by_colour) {
    QPen pen(QColor::fromRgb(colour), height * (1 + overlap), Qt::SolidLine, Qt::FlatCap);
    if (!strokes.upper.isEmpty()) {
      painter.setPen(pen);
      painter.drawPath(strokes.upper);
    }
    if (!strokes.last.isEmpty()) {
      pen.setWidthF(height);
      painter.setPen(pen);
      painter.drawPath(strokes.last);
    }
  }
  painter.restore();
}

void draw_as_pixels(QPainter& painter, const Cells& cells, const QRectF& frame) {
  painter.save();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  // Else Qt writes pictures into a PDF as JPEG: other colours, which are other numbers.
  painter.setRenderHint(QPainter::LosslessImageRendering, true);
  painter.drawImage(frame, as_image(cells));
  painter.restore();
}

void draw_resampled(QPainter& painter, const Cells& cells, const QRectF& frame) {
  const double ratio = painter.device()->devicePixelRatioF();
  const QSize target = (frame.size() * ratio).toSize().expandedTo(QSize(1, 1));
  const QImage image = as_image(cells);
  // Cells are first repeated to well over the target: the mean then weighs them by their share.
  const auto repeats = [](int wanted, int pixels) { return std::max(1, 4 * wanted / pixels); };
  const QImage fine = image.scaled(image.width() * repeats(target.width(), image.width()),
                                   image.height() * repeats(target.height(), image.height()),
                                   Qt::IgnoreAspectRatio, Qt::FastTransformation);
  painter.save();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(frame, fine.scaled(target, Qt::IgnoreAspectRatio, Qt::SmoothTransformation));
  painter.restore();
}

}  // namespace attnscope
