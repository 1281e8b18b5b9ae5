#include "app/panels/patching/patch_grid.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"

namespace attnscope {

namespace {

constexpr int kMostLabelLetters = 14;
constexpr double kLeastCell = 9;        // pixels
constexpr double kMostRowHeight = 2.2;  // line heights

}  // namespace

PatchGrid::PatchGrid(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Effect of each patch"));
  setAccessibleDescription(
      tr("Arrows move, Return chooses the map, Space paints a cell: painted cells are patched "
         "together."));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void PatchGrid::set_labels(const QStringList& rows, const QStringList& columns,
                           const QString& row_title, const QString& column_title) {
  rows_ = rows;
  columns_ = columns;
  row_title_ = row_title;
  column_title_ = column_title;
  values_.assign(static_cast<std::size_t>(rows.size() * columns.size()),
                 std::numeric_limits<double>::quiet_NaN());
  greatest_ = 0;
  painted_.clear();
  current_.reset();
  pressed_.reset();
  const QFontMetricsF metrics(font());
  setMaximumHeight(
      static_cast<int>(kMostRowHeight * metrics.height() * static_cast<double>(rows.size()) +
                       2 * metrics.height() + 6));
  updateGeometry();
  update();
  emit scale_changed();
}

void PatchGrid::set_value(const Cell& cell, double value) {
  values_[static_cast<std::size_t>(cell.first * columns_.size() + cell.second)] = value;
  if (std::isfinite(value) && std::abs(value) > greatest_) {
    greatest_ = std::abs(value);
    emit scale_changed();
  }
  update();
}

double PatchGrid::value(const Cell& cell) const {
  return values_[static_cast<std::size_t>(cell.first * columns_.size() + cell.second)];
}

ColourScale PatchGrid::scale() const {
  const double end = greatest_ > 0 ? greatest_ : 1;
  return {.label = tr("effect").toStdString(),
          .colour_map = "diverging",
          .minimum = -end,
          .maximum = end};
}

void PatchGrid::clear_painted() {
  painted_.clear();
  update();
}

QSize PatchGrid::sizeHint() const {
  const int line = fontMetrics().height();
  return {static_cast<int>(columns_.size()) * 2 * line + 10 * line,
          static_cast<int>(rows_.size() + 3) * (line + 4)};
}

QSize PatchGrid::minimumSizeHint() const {
  const int line = fontMetrics().height();
  const auto cells = [](qsizetype count) {
    return static_cast<int>(kLeastCell) * static_cast<int>(count);
  };
  return {std::min(12 * line, 8 * line + cells(columns_.size())),
          2 * line + 6 + std::max(3 * line, cells(rows_.size()))};
}

QRectF PatchGrid::cells() const {
  const QFontMetricsF metrics(font());
  double left = metrics.horizontalAdvance(row_title_);
  for (const QString& label : rows_) {
    left = std::max(left, metrics.horizontalAdvance(label.left(kMostLabelLetters)));
  }
  left = std::min(left + 8, 0.45 * width());
  const double below = 2 * metrics.height() + 4;
  const double tall = std::min(
      height() - below, kMostRowHeight * metrics.height() * static_cast<double>(rows_.size()));
  const double wide =
      std::min(width() - left - 2, 5 * metrics.height() * static_cast<double>(columns_.size()));
  return {left, 1, wide, tall};
}

QRectF PatchGrid::rectangle(const Cell& cell) const {
  const QRectF all = cells();
  const double wide = all.width() / static_cast<double>(columns_.size());
  const double tall = all.height() / static_cast<double>(rows_.size());
  return {all.left() + cell.second * wide, all.top() + cell.first * tall, wide, tall};
}

std::optional<PatchGrid::Cell> PatchGrid::cell_at(const QPointF& pixel) const {
  const QRectF all = cells();
  if (rows_.isEmpty() || columns_.isEmpty() || !all.contains(pixel)) return std::nullopt;
  const auto index = [](double share, qsizetype count) {
    return std::clamp(static_cast<int>(share * static_cast<double>(count)), 0,
                      static_cast<int>(count) - 1);
  };
  return Cell{index((pixel.y() - all.top()) / all.height(), rows_.size()),
              index((pixel.x() - all.left()) / all.width(), columns_.size())};
}

QString PatchGrid::words(const Cell& cell) const {
  const double found = value(cell);
  return tr("%1 %2, %3 %4: %5")
      .arg(row_title_, rows_[cell.first], column_title_, columns_[cell.second],
           std::isfinite(found) ? QString::number(found, 'f', 3) : tr("not known"));
}

bool PatchGrid::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const std::optional<Cell> cell = cell_at(help->pos());
  if (cell) {
    QToolTip::showText(help->globalPos(), words(*cell), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void PatchGrid::paintEvent(QPaintEvent*) {
  if (rows_.isEmpty() || columns_.isEmpty()) return;
  QPainter painter(this);
  const WindowColours& colours = colours_of(*this);
  const ColourScale scale = this->scale();
  const ScaleColours of_scale(scale);
  for (int row = 0; row < rows_.size(); ++row) {
    for (int column = 0; column < columns_.size(); ++column) {
      const Cell cell{row, column};
      const QRectF box = rectangle(cell).adjusted(0.5, 0.5, -0.5, -0.5);
      const std::optional<double> share = fraction_of(scale, value(cell));
      if (share) {
        const Colour colour = of_scale(*share);
        painter.fillRect(box, QColor(colour.red, colour.green, colour.blue));
      } else {
        painter.fillRect(box, colours.sunken);
      }
    }
  }
  painter.setBrush(Qt::NoBrush);
  for (const Cell& cell : painted_) {
    const QRectF box = rectangle(cell);
    painter.setPen(QPen(Qt::black, 3));
    painter.drawRect(box.adjusted(2, 2, -2, -2));
    painter.setPen(QPen(Qt::white, 1));
    painter.drawRect(box.adjusted(2, 2, -2, -2));
  }
  if (current_) {
    painter.setPen(QPen(hasFocus() ? colours.accent : colours.text, 2));
    painter.drawRect(rectangle(*current_).adjusted(1, 1, -1, -1));
  }
  paint_labels(painter);
}

void PatchGrid::paint_labels(QPainter& painter) const {
  const WindowColours& colours = colours_of(*this);
  const QFontMetricsF metrics(font());
  const QRectF all = cells();
  painter.setPen(colours.text);
  const double tall = all.height() / static_cast<double>(rows_.size());
  const int rows_each = std::max(1, static_cast<int>(std::ceil(metrics.height() / tall)));
  for (int row = 0; row < rows_.size(); row += rows_each) {
    const QRectF box(0, all.top() + row * tall - metrics.height(), all.left() - 5,
                     tall + 2 * metrics.height());
    painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(rows_[row], Qt::ElideRight, box.width()));
  }
  double widest = 0;
  for (const QString& label : columns_) widest = std::max(widest, metrics.horizontalAdvance(label));
  const double wide = all.width() / static_cast<double>(columns_.size());
  const int columns_each = std::max(1, static_cast<int>(std::ceil((widest + 5) / wide)));
  for (int column = 0; column < columns_.size(); column += columns_each) {
    const QRectF box(all.left() + column * wide - widest, all.bottom() + 2, wide + 2 * widest,
                     metrics.height());
    painter.drawText(box, Qt::AlignHCenter | Qt::AlignTop, columns_[column]);
  }
  painter.setPen(colours.muted);
  const QRectF below(all.left(), all.bottom() + 2 + metrics.height(), all.width(),
                     metrics.height());
  painter.drawText(below, Qt::AlignHCenter | Qt::AlignTop, column_title_);
  painter.drawText(QRectF(0, below.top() - metrics.height(), all.left() - 5, metrics.height()),
                   Qt::AlignRight | Qt::AlignTop, row_title_);
}

void PatchGrid::toggle(const Cell& cell) {
  if (!painted_.insert(cell).second) painted_.erase(cell);
  update();
  emit painted_changed();
}

void PatchGrid::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->button() == Qt::LeftButton ? cell_at(event->position()) : std::nullopt;
  dragged_ = false;
}

void PatchGrid::mouseMoveEvent(QMouseEvent* event) {
  const std::optional<Cell> cell = cell_at(event->position());
  if (!pressed_ || !(event->buttons() & Qt::LeftButton) || !cell) return;
  if (!dragged_ && *cell == *pressed_) return;
  if (!dragged_ && !(event->modifiers() & Qt::ControlModifier)) painted_.clear();
  dragged_ = true;
  painted_.insert(*pressed_);
  painted_.insert(*cell);
  update();
}

void PatchGrid::mouseReleaseEvent(QMouseEvent* event) {
  const std::optional<Cell> pressed = std::exchange(pressed_, std::nullopt);
  if (!pressed) return;
  if (dragged_) {
    emit painted_changed();
    return;
  }
  current_ = pressed;
  if (event->modifiers() & Qt::ControlModifier) {
    toggle(*pressed);
    return;
  }
  const bool had_painted = !painted_.empty();
  clear_painted();
  if (had_painted) emit painted_changed();
  emit chosen(pressed->first, pressed->second);
}

void PatchGrid::keyPressEvent(QKeyEvent* event) {
  if (rows_.isEmpty() || columns_.isEmpty()) return QWidget::keyPressEvent(event);
  Cell cell = current_.value_or(Cell{0, 0});
  switch (event->key()) {
    case Qt::Key_Left:
      --cell.second;
      break;
    case Qt::Key_Right:
      ++cell.second;
      break;
    case Qt::Key_Up:
      --cell.first;
      break;
    case Qt::Key_Down:
      ++cell.first;
      break;
    case Qt::Key_Space:
      current_ = cell;
      return toggle(cell);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      current_ = cell;
      emit chosen(cell.first, cell.second);
      return update();
    default:
      return QWidget::keyPressEvent(event);
  }
  current_ = Cell{std::clamp(cell.first, 0, static_cast<int>(rows_.size()) - 1),
                  std::clamp(cell.second, 0, static_cast<int>(columns_.size()) - 1)};
  setAccessibleDescription(words(*current_));
  update();
}

}  // namespace attnscope
