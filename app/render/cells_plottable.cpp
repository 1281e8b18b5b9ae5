#include "app/render/cells_plottable.h"

#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QRectF>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "analysis/figure/cells.h"

namespace attnscope {

namespace {

// Draws cells with a painter: as vector areas, as one pixel per cell, or resampled for a screen.

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

/// The image with a palette if it has at most 256 colours, as every heat map has: a third of the
/// bytes.
QImage with_palette(const QImage& image, const Cells& cells) {
  constexpr std::size_t most_colours = 256;
  QList<QRgb> palette;
  for (const std::uint32_t colour : std::set(cells.colours.begin(), cells.colours.end())) {
    palette.append(0xff000000U | colour);
  }
  if (static_cast<std::size_t>(palette.size()) > most_colours) return image;
  return image.convertToFormat(QImage::Format_Indexed8, palette, Qt::ThresholdDither);
}

/// Calls `add(cell, share)` for each of `cells` cells that overlaps pixel `dot` of `dots`. The
/// shares of a pixel sum to 1.
template <class Add>
void for_each_share(int dot, int dots, std::int64_t cells, Add&& add) {
  const double size = static_cast<double>(cells) / dots, begin = dot * size, end = begin + size;
  for (auto cell = static_cast<std::int64_t>(begin); cell < cells; ++cell) {
    const auto at = static_cast<double>(cell);
    const double share = (std::min(end, at + 1) - std::max(begin, at)) / size;
    if (share <= 0) return;
    add(cell, share);
  }
}

/// The image at the target's pixel size: each pixel is the area-weighted mean of its cells. Qt's
/// own scaling drifts by one pixel in 200.
QImage as_dots(const Cells& cells, const QSize& size) {
  using Colour = std::array<double, 3>;
  const auto width = static_cast<std::size_t>(size.width());
  std::vector<Colour> row_of_cells(width), sums(width);
  std::int64_t row_there = -1;
  const auto mean_row = [&](std::int64_t row) {
    row_there = row;
    for (int x = 0; x < size.width(); ++x) {
      Colour& sum = row_of_cells[static_cast<std::size_t>(x)];
      sum = {};
      for_each_share(x, size.width(), cells.columns, [&](std::int64_t column, double share) {
        const QRgb colour = cells.at(row, column);
        sum[0] += share * qRed(colour);
        sum[1] += share * qGreen(colour);
        sum[2] += share * qBlue(colour);
      });
    }
  };
  QImage image(size, QImage::Format_RGB32);
  for (int y = 0; y < size.height(); ++y) {
    std::ranges::fill(sums, Colour{});
    for_each_share(y, size.height(), cells.rows, [&](std::int64_t row, double share) {
      if (row != row_there) mean_row(row);
      for (std::size_t x = 0; x < width; ++x) {
        for (std::size_t c = 0; c < 3; ++c) sums[x][c] += share * row_of_cells[x][c];
      }
    });
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (const Colour& sum : sums) {
      *line++ = qRgb(static_cast<int>(std::lround(sum[0])), static_cast<int>(std::lround(sum[1])),
                     static_cast<int>(std::lround(sum[2])));
    }
  }
  return image;
}

/// Draws vectors: every run of equal cells is an area of its exact size over a slightly larger one
/// that extends under its neighbours, to leave no visible gaps.
void draw_as_areas(QPainter& painter, const Cells& cells, const QRectF& frame) {
  if (cells.rows == 0 || cells.columns == 0) return;
  const double width = frame.width() / static_cast<double>(cells.columns);
  const double height = frame.height() / static_cast<double>(cells.rows);

  // Where two areas meet within a pixel, PDF viewers let the background show through. Every run is
  // therefore drawn twice: first below all others, extended under its right and lower neighbours,
  // and then at its exact size. A run is a horizontal stroke as thick as the row, which takes half
  // the bytes of a rectangle. The last row has no lower neighbour and its own thickness.
  constexpr double reach = 0.15;  // share of a cell, more than a viewer's rounding
  struct Strokes {
    QPainterPath under, last_under, exact;
  };
  std::map<std::uint32_t, Strokes> by_colour;
  const auto add = [](QPainterPath& path, double left, double right, double y) {
    path.moveTo(left, y);
    path.lineTo(right, y);
  };
  for_each_run(cells,
               [&](std::int64_t row, std::int64_t first, std::int64_t end, std::uint32_t colour) {
                 const bool is_last = row + 1 == cells.rows;
                 const double top = frame.top() + static_cast<double>(row) * height;
                 const double left = frame.left() + static_cast<double>(first) * width;
                 const double right = frame.left() + static_cast<double>(end) * width;
                 Strokes& strokes = by_colour[colour];
                 add(strokes.exact, left, right, top + height / 2);
                 add(is_last ? strokes.last_under : strokes.under, left,
                     end == cells.columns ? right : right + reach * width,
                     top + (is_last ? height : height * (1 + reach)) / 2);
               });

  painter.save();
  painter.setBrush(Qt::NoBrush);
  const auto draw = [&painter](std::uint32_t colour, double thickness, const QPainterPath& path) {
    if (path.isEmpty()) return;
    painter.setPen(QPen(QColor::fromRgb(colour), thickness, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
  };
  for (const auto& [colour, strokes] : by_colour) {
    draw(colour, height * (1 + reach), strokes.under);
    draw(colour, height, strokes.last_under);
  }
  for (const auto& [colour, strokes] : by_colour) draw(colour, height, strokes.exact);
  painter.restore();
}

/// Draws an image with exactly one pixel per cell, without smoothing.
void draw_as_pixels(QPainter& painter, const Cells& cells, const QRectF& frame) {
  painter.save();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  // By default Qt writes images into a PDF as JPEG, which changes colours and thus the values they
  // show.
  painter.setRenderHint(QPainter::LosslessImageRendering, true);
  painter.drawImage(frame, with_palette(as_image(cells), cells));
  painter.restore();
}

/// Draws for pixel devices: every pixel is the mean of the cells it covers. Maps finer than the
/// screen show no moiré, and coarser maps keep sharp edges.
void draw_resampled(QPainter& painter, const Cells& cells, const QRectF& frame) {
  if (cells.rows == 0 || cells.columns == 0) return;
  const double ratio = painter.device()->devicePixelRatioF();
  const QRect dots = painter.deviceTransform().mapRect(frame).toRect();
  const QSize target = dots.size().expandedTo(QSize(1, 1));
  painter.save();
  painter.resetTransform();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(QRectF(QPointF(dots.topLeft()) / ratio, QSizeF(target) / ratio),
                    as_dots(cells, target));
  painter.restore();
}

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
