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

/// The line segments of every curve of the axis rect, in pixels.
std::vector<QLineF> segments_in(const QCPAxisRect& axes) {
  std::vector<QLineF> segments;
  for (const QCPGraph* graph : axes.graphs()) {
    if (graph->property("rule").toBool()) continue;  // a rule has its own text next to it
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

PointMarksItem::PointMarksItem(QCPAxisRect& axes, std::vector<Point> points,
                               std::vector<RuleText> rules, Look look)
    : QCPAbstractItem(axes.parentPlot()),
      axes_(axes),
      points_(std::move(points)),
      rules_(std::move(rules)),
      look_(std::move(look)) {
  setClipToAxisRect(false);
}

QPointF PointMarksItem::pixel(const Point& point) const {
  return {axes_.axis(QCPAxis::atBottom)->coordToPixel(point.x),
          axes_.axis(QCPAxis::atLeft)->coordToPixel(point.y)};
}

std::vector<QRectF> PointMarksItem::legends() const {
  const QCPLayoutInset& inset = *axes_.insetLayout();
  std::vector<QRectF> boxes;
  boxes.reserve(static_cast<std::size_t>(inset.elementCount()));
  for (int index = 0; index < inset.elementCount(); ++index) {
    boxes.emplace_back(inset.elementAt(index)->outerRect());
  }
  return boxes;
}

std::vector<QRectF> PointMarksItem::placed_texts(const QFontMetricsF& metrics,
                                                 const std::vector<QLineF>& curves,
                                                 std::vector<QRectF>& taken) const {
  const QRectF frame(axes_.rect());
  const double line_height = metrics.height();
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
            cost += 6;
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

QRectF PointMarksItem::placed_rule_text(const RuleText& rule, const QFontMetricsF& metrics,
                                        const std::vector<QLineF>& curves,
                                        const std::vector<QRectF>& taken) const {
  const QRectF frame(axes_.rect());
  const QSizeF size(metrics.horizontalAdvance(rule.text) + 2 * look_.gap, metrics.height());
  const double y = axes_.axis(QCPAxis::atLeft)->coordToPixel(rule.y);
  QRectF best;
  double best_cost = 1e9;
  constexpr int places = 16;
  for (int place = 0; place < places; ++place) {
    for (const bool above : {true, false}) {
      const double x = frame.left() + place * (frame.width() - size.width()) / (places - 1);
      const QRectF box(QPointF(x, above ? y - size.height() : y + look_.gap / 2), size);
      double cost = above ? 0 : 0.5;
      if (box.top() < frame.top() || box.bottom() > frame.bottom()) cost += 100;
      for (const QRectF& other : taken) cost += other.intersects(box) ? 50 : 0;
      for (const Point& point : points_) {
        const QPointF at = pixel(point);
        if (point.drop_lines && crosses(box, {at, QPointF(at.x(), frame.bottom())})) cost += 10;
        if (box.adjusted(-look_.marker_size, 0, look_.marker_size, 0).contains(at)) cost += 10;
      }
      cost += 6 * static_cast<double>(
                      std::count_if(curves.begin(), curves.end(),
                                    [&](const QLineF& curve) { return crosses(box, curve); }) > 0);
      if (cost < best_cost) {
        best_cost = cost;
        best = box;
      }
    }
  }
  return best;
}

void PointMarksItem::draw_text(QCPPainter& painter, const QRectF& box, const QString& text,
                               const QColor& colour) const {
  painter.setPen(QPen(colour));
  painter.drawText(QPointF(box.left(), box.top() + QFontMetricsF(look_.font).ascent()), text);
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
  const std::vector<QLineF> curves = segments_in(axes_);
  std::vector<QRectF> taken = legends();
  const std::vector<QRectF> boxes = placed_texts(metrics, curves, taken);
  for (const RuleText& rule : rules_) {
    const QRectF box = placed_rule_text(rule, metrics, curves, taken);
    draw_text(*painter, box.adjusted(look_.gap, 0, 0, 0), rule.text, rule.colour);
    taken.push_back(box);
  }
  for (std::size_t index = 0; index < points_.size(); ++index) {
    const Point& point = points_[index];
    const QPointF at = pixel(point);
    painter->setPen(QPen(look_.background, look_.line_width));
    painter->setBrush(point.colour);
    painter->drawEllipse(at, look_.marker_size / 2, look_.marker_size / 2);
    if (point.text.isEmpty()) continue;
    if (look_.background.alpha() > 0) painter->fillRect(boxes[index], look_.background);
    draw_text(*painter, boxes[index], point.text, point.colour);
  }
}

}  // namespace attnscope
