#include "app/panels/groups/grid_painter.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/look/theme.h"
#include "app/widgets/picture.h"

namespace attnscope {

namespace {

constexpr double kPrefixHeight = 20;  // class tokens and registers above the grid
constexpr double kUnderPrefix = 4;

}  // namespace

GridPainter::GridPainter(QWidget* parent) : QWidget(parent) {
  setCursor(Qt::CrossCursor);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void GridPainter::set_content(std::shared_ptr<const Trace> trace, std::vector<QColor> grounds) {
  if (trace != trace_) {
    image_ = trace && trace->image() ? to_qimage(*trace->image()) : QImage();
    trace_ = std::move(trace);
    clear_selection();
  }
  grounds_ = std::move(grounds);
  update();
}

void GridPainter::clear_selection() {
  first_ = last_ = std::nullopt;
  update();
  emit selection_changed();
}

QRectF GridPainter::grid_rect() const {
  const TokenLayout& layout = trace_->layout;
  const double top = layout.prefix > 0 ? kPrefixHeight + kUnderPrefix : 0;
  return place_of_picture({0, top, static_cast<double>(width()), height() - top}, image_,
                          layout.cells());
}

QRectF GridPainter::place_of(std::int64_t token) const {
  if (!trace_ || token < 0) return {};
  const TokenLayout& layout = trace_->layout;
  const QRectF grid = grid_rect();
  if (token < layout.prefix) {
    const double wide = grid.width() / static_cast<double>(layout.prefix);
    return {static_cast<double>(token) * wide, 0, wide - 1, kPrefixHeight};
  }
  return place_of_cells(grid, layout.cells(), token);
}

std::optional<std::int64_t> GridPainter::token_at(QPointF place) const {
  if (!trace_) return {};
  for (std::int64_t token = 0; token < std::ssize(grounds_); ++token) {
    if (place_of(token).contains(place)) return token;
  }
  return {};
}

std::vector<std::int64_t> GridPainter::selected_tokens() const {
  std::vector<std::int64_t> tokens;
  if (!trace_ || !first_ || !last_) return tokens;
  // Tokens whose middle lies in the rectangle around both corners.
  const QRectF around = place_of(*first_).united(place_of(*last_));
  for (std::int64_t token = 0; token < std::ssize(grounds_); ++token) {
    if (around.contains(place_of(token).center())) tokens.push_back(token);
  }
  return tokens;
}

void GridPainter::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  first_ = last_ = token_at(event->position());
  update();
  emit selection_changed();
}

void GridPainter::mouseMoveEvent(QMouseEvent* event) {
  if (!first_ || !(event->buttons() & Qt::LeftButton)) return;
  const auto token = token_at(event->position());
  if (!token || token == last_) return;
  last_ = token;
  update();
  emit selection_changed();
}

void GridPainter::paintEvent(QPaintEvent*) {
  if (!trace_) return;
  QPainter painter(this);
  const WindowColours& colours = colours_of(*this);
  if (!image_.isNull()) painter.drawImage(grid_rect(), image_);
  for (std::int64_t token = 0; token < std::ssize(grounds_); ++token) {
    const QRectF place = place_of(token);
    QColor ground = grounds_[static_cast<std::size_t>(token)];
    if (ground.isValid()) painter.fillRect(place, ground);
    painter.setPen(QPen(colours.border, 0.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(place);
    if (token >= trace_->layout.prefix) continue;
    painter.setPen(colours.text);
    const QString name = QString::fromStdString(trace_->layout.name(token));
    painter.drawText(place, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(name, Qt::ElideRight,
                                                      static_cast<int>(place.width()) - 4));
  }
  if (!first_ || !last_) return;
  const QRectF around = place_of(*first_).united(place_of(*last_)).adjusted(1, 1, -1, -1);
  painter.setPen(QPen(Qt::black, 3));
  painter.drawRect(around);
  painter.setPen(QPen(Qt::white, 1));
  painter.drawRect(around);
}

}  // namespace attnscope
