#include "app/panels/playground/plane_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

namespace {

// Radius of a handle, and the distance from its centre within which it can be dragged, relative to
// the font height.
constexpr double kRadius = 0.58, kPlaneReach = 0.9;
constexpr double kStep = 0.1;

}  // namespace

PlaneView::PlaneView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Queries and keys in the plane"));
  setAccessibleDescription(tr("Drag a point. By keys: N for the next point, the arrows move it."));
  setToolTip(tr("Drag circles (queries) and squares (keys); or N for the next, arrows to move"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

QSize PlaneView::sizeHint() const {
  const int side = 16 * fontMetrics().height();
  return {side, side};
}

QSize PlaneView::minimumSizeHint() const {
  const int side = 11 * fontMetrics().height();
  return {side, side};
}

double PlaneView::radius() const { return kRadius * fontMetrics().height(); }

void PlaneView::set_tokens(PlaneTokens tokens) {
  tokens_ = std::move(tokens);
  if (tied_) tokens_.keys = tokens_.queries;
  selected_.reset();
  update();
  emit moved();
}

void PlaneView::set_tied(bool tied) {
  tied_ = tied;
  if (tied_) tokens_.keys = tokens_.queries;
  selected_.reset();
  update();
  emit moved();
}

QRectF PlaneView::plane() const {
  const double side = std::min(width(), height()) - 2 * radius() - 4;
  return {(width() - side) / 2, (height() - side) / 2, side, side};
}

QPointF PlaneView::pixel_of(const QPointF& point) const {
  const QRectF square = plane();
  return {square.left() + (point.x() + extent) / (2 * extent) * square.width(),
          square.bottom() - (point.y() + extent) / (2 * extent) * square.height()};
}

QPointF PlaneView::point_at(const QPointF& pixel) const {
  const QRectF square = plane();
  return {(pixel.x() - square.left()) / square.width() * 2 * extent - extent,
          (square.bottom() - pixel.y()) / square.height() * 2 * extent - extent};
}

const QPointF& PlaneView::position(const Handle& handle) const {
  return (handle.is_query ? tokens_.queries : tokens_.keys)[handle.index];
}

std::optional<PlaneView::Handle> PlaneView::handle_at(const QPointF& pixel) const {
  std::optional<Handle> nearest;
  double least = kPlaneReach * fontMetrics().height();
  for (const bool is_query : {true, false}) {
    if (!is_query && tied_) continue;
    const auto& points = is_query ? tokens_.queries : tokens_.keys;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const QPointF away = pixel_of(points[i]) - pixel;
      const double distance = std::hypot(away.x(), away.y());
      if (distance >= least) continue;
      least = distance;
      nearest = Handle{is_query, i};
    }
  }
  return nearest;
}

void PlaneView::move(const Handle& handle, QPointF to) {
  to = {std::clamp(to.x(), -extent, extent), std::clamp(to.y(), -extent, extent)};
  (handle.is_query ? tokens_.queries : tokens_.keys)[handle.index] = to;
  if (tied_) tokens_.keys = tokens_.queries;
  update();
  emit moved();
}

void PlaneView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const WindowColours& colours = colours_of(*this);
  const QRectF square = plane();
  painter.fillRect(square, colours.sunken);
  painter.setPen(QPen(colours.border, 1));
  for (int line = -2; line <= 2; ++line) {
    const QPointF across = pixel_of({static_cast<double>(line), static_cast<double>(line)});
    painter.drawLine(QPointF(across.x(), square.top()), QPointF(across.x(), square.bottom()));
    painter.drawLine(QPointF(square.left(), across.y()), QPointF(square.right(), across.y()));
  }
  painter.setPen(QPen(colours.muted, 1));
  painter.drawLine(pixel_of({-extent, 0}), pixel_of({extent, 0}));
  painter.drawLine(pixel_of({0, -extent}), pixel_of({0, extent}));

  QFont small = font();
  small.setPointSizeF(font().pointSizeF() * 0.85);
  painter.setFont(small);
  for (const bool is_query : {false, true}) {
    if (!is_query && tied_) continue;
    const auto& points = is_query ? tokens_.queries : tokens_.keys;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const QPointF middle = pixel_of(points[i]);
      const QRectF box(middle.x() - radius(), middle.y() - radius(), 2 * radius(), 2 * radius());
      const bool chosen = selected_ && selected_->is_query == is_query && selected_->index == i;
      painter.setBrush(is_query ? colours.accent : colours.raised);
      painter.setPen(QPen(chosen ? colours.text : (is_query ? colours.accent : colours.muted),
                          chosen ? 2.5 : 1.2));
      is_query ? painter.drawEllipse(box) : painter.drawRect(box);
      painter.setPen(is_query ? colours.on_accent : colours.text);
      painter.drawText(box, Qt::AlignCenter, QString::number(i));
    }
  }
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colours.accent, 1));
    painter.drawRect(square);
  }
}

void PlaneView::mousePressEvent(QMouseEvent* event) {
  selected_ = handle_at(event->position());
  dragging_ = selected_.has_value();
  update();
}

void PlaneView::mouseMoveEvent(QMouseEvent* event) {
  if (dragging_) move(*selected_, point_at(event->position()));
}

void PlaneView::mouseReleaseEvent(QMouseEvent*) { dragging_ = false; }

void PlaneView::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = tokens_.queries.size();
  if (event->key() == Qt::Key_N && count > 0) {
    const std::size_t handles = tied_ ? count : 2 * count;
    std::size_t next = 0;
    if (selected_) next = (selected_->index + (selected_->is_query ? 0 : count) + 1) % handles;
    selected_ = Handle{next < count, next % count};
    update();
    return;
  }
  QPointF by;
  if (event->key() == Qt::Key_Left) by = {-kStep, 0};
  if (event->key() == Qt::Key_Right) by = {kStep, 0};
  if (event->key() == Qt::Key_Up) by = {0, kStep};
  if (event->key() == Qt::Key_Down) by = {0, -kStep};
  if (by.isNull() || !selected_) return QWidget::keyPressEvent(event);
  move(*selected_, position(*selected_) + by);
}

}  // namespace attnscope
