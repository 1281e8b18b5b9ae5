#include "app/render/point_marks.h"

#include <algorithm>
#include <numeric>

namespace attnscope {

namespace {

bool crosses(const QRectF& box, const QLineF& line) {
  if (box.contains(line.p1()) || box.contains(line.p2())) return true;
  const QLineF diagonals[] = {{box.topLeft(), box.bottomRight()},
                              {box.topRight(), box.bottomLeft()}};
  QPointF where;
  return std::any_of(std::begin(diagonals), std::end(diagonals), [&](const QLineF& diagonal) {
    return diagonal.intersects(line, &where) == QLineF::BoundedIntersection;
  });
}

/// Every curve of the axis rect as pixel segments.
std::vector<QLineF> segments_in(const QCPAxisRect& axes) {
  std::vector<QLineF> segments;
  for (const QCPGraph* graph : axes.graphs()) {
    QPointF last;
    bool has_last = false;
    for (const QCPGraphData& data : *graph->data()) {
      const QPointF here = graph->coordsToPixels(data.key, data.value);
      if (has_last) segments.emplace_back(last, here);
      last = here;
      has_last = true;
    }
  }
  return segments;
}

}  // namespace

PointMarksItem::PointMarksItem(QCPAxisRect& axes, std::vector<Point> points, Look look)
    : QCPAbstractItem(axes.parentPlot()), axes_(axes), points_(std::move(points)), look_(look) {
  setClipToAxisRect(false);
}

QPointF PointMarksItem::pixel(const Point& point) const {
  return {axes_.axis(QCPAxis::atBottom)->coordToPixel(point.x),
          axes_.axis(QCPAxis::atLeft)->coordToPixel(point.y)};
}

std::vector<QRectF> PointMarksItem::placed_texts(const QFontMetricsF& metrics) const {
  const QRectF frame(axes_.rect());
  const double line_height = metrics.height();
  const std::vector<QLineF> curves = segments_in(axes_);
  std::vector<QRectF> taken;
  for (int index = 0; index < axes_.insetLayout()->elementCount(); ++index) {
    taken.emplace_back(axes_.insetLayout()->elementAt(index)->outerRect());
  }
  std::vector<std::size_t> order(points_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return points_[a].x < points_[b].x; });

  std::vector<QRectF> boxes(points_.size());
  for (const std::size_t index : order) {
    if (points_[index].text.isEmpty()) continue;
    const double width = metrics.horizontalAdvance(points_[index].text);
    const double x = pixel(points_[index]).x();
    double best_cost = 1e9;
    for (int level = 0; level < 6; ++level) {
      for (const bool right : {true, false}) {
        const QRectF box(right ? x + look_.gap : x - look_.gap - width,
                         frame.bottom() - look_.gap - (level + 1) * line_height, width,
                         line_height);
        double cost = level + (right ? 0 : 0.5);
        if (box.left() < frame.left() || box.right() > frame.right()) cost += 100;
        for (const QRectF& other : taken) cost += other.intersects(box) ? 50 : 0;
        for (const Point& other : points_) {
          const QPointF p = pixel(other);
          if (other.drop_lines && p.x() > box.left() && p.x() < box.right()) cost += 5;
        }
        for (const QLineF& curve : curves) {
          if (crosses(box, curve)) {
            cost += 3;
            break;
          }
        }
        if (cost < best_cost) {
          best_cost = cost;
          boxes[index] = box;
        }
      }
    }
    taken.push_back(boxes[index]);
  }
  return boxes;
}

void PointMarksItem::draw(QCPPainter* painter) {
  const QRectF frame(axes_.rect());
  painter->setAntialiasing(true);
  for (const Point& point : points_) {
    const QPointF at = pixel(point);
    if (!point.drop_lines) continue;
    QPen pen(point.colour, look_.line_width, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({3, 3});
    painter->setPen(pen);
    painter->drawLine(at, QPointF(at.x(), frame.bottom()));
  }
  painter->setFont(look_.font);
  const QFontMetricsF metrics(look_.font);
  const std::vector<QRectF> boxes = placed_texts(metrics);
  for (std::size_t index = 0; index < points_.size(); ++index) {
    const Point& point = points_[index];
    const QPointF at = pixel(point);
    painter->setPen(QPen(look_.background, look_.line_width));
    painter->setBrush(point.colour);
    painter->drawEllipse(at, look_.marker_size / 2, look_.marker_size / 2);
    if (point.text.isEmpty()) continue;
    if (look_.background.alpha() > 0) painter->fillRect(boxes[index], look_.background);
    painter->setPen(QPen(point.colour));
    painter->drawText(QPointF(boxes[index].left(), boxes[index].top() + metrics.ascent()),
                      point.text);
  }
}

}  // namespace attnscope
