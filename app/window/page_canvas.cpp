#include "app/window/page_canvas.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/look/theme.h"
#include "app/render/render.h"

namespace attnscope {

namespace {

constexpr int kMargin = 24;            // pixels around the page
constexpr double kGapMm = 3;           // between panels, as compose() leaves it
constexpr double kFirstHeightMm = 45;  // height of a panel that was never drawn
constexpr double kTitleMm = 5;
constexpr int kReach = 5;  // pixels from a boundary at which it is taken

/// The recipe of a figure that is dragged from a list; empty for other drags.
QString dragged_recipe(const QDropEvent& event) {
  const auto* const list = qobject_cast<const QListWidget*>(event.source());
  if (list == nullptr || list->currentItem() == nullptr) return {};
  return list->currentItem()->data(Qt::UserRole).toString();
}

}  // namespace

PageCanvas::PageCanvas(QWidget* parent) : QWidget(parent) {
  setObjectName("page_canvas");
  setAccessibleName(tr("Page"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAcceptDrops(true);
  title_ = new QLineEdit(this);
  title_->setObjectName("page_title");
  title_->setAccessibleName(tr("Title of the panel"));
  title_->setPlaceholderText(tr("Title of the panel"));
  title_->hide();
  title_->installEventFilter(this);
  connect(title_, &QLineEdit::editingFinished, this, &PageCanvas::commit_title);
}

void PageCanvas::arrange(const PageDraft& draft) {
  is_drawn_ = false;
  lay_out(draft.rows(), draft.look.width_mm);
  if (slot(selected_) == nullptr) selected_ = slots_.empty() ? 0 : slots_.front().id;
  resize_to_page();
  describe();
}

/// Places the panels as compose() will, with the heights that they had.
void PageCanvas::lay_out(const PageDraft::Rows& rows, double width_mm) {
  slots_.clear();
  width_mm_ = width_mm;
  double y = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double shares = 0, height = 0, x = 0;
    for (const PagePanel& panel : rows[row]) {
      shares += panel.cell.share;
      const auto known = heights_.find(panel.id);
      height = std::max(height, known == heights_.end() ? kFirstHeightMm : known->second);
    }
    const double room = width_mm - kGapMm * static_cast<double>(rows[row].size() - 1);
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      const PagePanel& panel = rows[row][column];
      const double width = room * panel.cell.share / shares;
      const QString title = QString::fromUtf8(find_figure(panel.cell.figure).title);
      slots_.push_back({panel.id, row, column, QRectF(x, y, width, height),
                        QString::fromStdString(panel.cell.title), title});
      x += width + kGapMm;
    }
    y += height + kGapMm;
  }
  height_mm_ = std::max(y - kGapMm, 60.0);
}

void PageCanvas::show_page(const Figure& figure) {
  if (figure.areas.size() < slots_.size()) return;
  figure_ = figure;
  width_mm_ = figure.width_mm;
  height_mm_ = figure.height_mm;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const FigureArea& area = figure.areas[i];
    slots_[i].mm = QRectF(area.x_mm, area.y_mm, area.width_mm, area.height_mm);
    heights_[slots_[i].id] = area.height_mm;
  }
  is_drawn_ = true;
  resize_to_page();
  draw_page();
}

void PageCanvas::draw_page() {
  if (!is_drawn_) return;
  const double ratio = devicePixelRatioF();
  page_ = figure_as_image(figure_, dpi_ * ratio);
  page_.setDevicePixelRatio(ratio);
  cut_pictures();
  update();
}

/// Keeps the picture of each panel, to show it at once in another place.
void PageCanvas::cut_pictures() {
  const double ratio = page_.devicePixelRatio();
  pictures_.clear();
  for (const Slot& slot : slots_) {
    const QRect place = pixels(slot.mm).translated(-kMargin, -kMargin);
    pictures_[slot.id] =
        page_.copy(QRect((QPointF(place.topLeft()) * ratio).toPoint(), place.size() * ratio));
  }
}

void PageCanvas::set_dpi(double dpi) {
  dpi_ = dpi;
  resize_to_page();
  draw_page();
}

void PageCanvas::resize_to_page() {
  const QSize size = (QSizeF(width_mm_, height_mm_) * scale()).toSize();
  setMinimumSize(size + QSize(2 * kMargin, 2 * kMargin));
  update();
}

void PageCanvas::select(int id) {
  if (slot(id) == nullptr || id == selected_) return;
  selected_ = id;
  describe();
  update();
  emit chosen(id);
}

/// Says the selected panel to screen readers.
void PageCanvas::describe() {
  const Slot* const shown = slot(selected_);
  setAccessibleDescription(shown == nullptr
                               ? tr("Empty page")
                               : tr("%1, row %2, column %3")
                                     .arg(shown->title.isEmpty() ? shown->figure : shown->title)
                                     .arg(shown->row + 1)
                                     .arg(shown->column + 1));
}

const PageCanvas::Slot* PageCanvas::slot(int id) const {
  const auto found = std::ranges::find(slots_, id, &Slot::id);
  return found == slots_.end() ? nullptr : &*found;
}

QRect PageCanvas::pixels(const QRectF& mm) const {
  return QRectF(kMargin + mm.x() * scale(), kMargin + mm.y() * scale(), mm.width() * scale(),
                mm.height() * scale())
      .toRect();
}

QRect PageCanvas::place_of(int id) const {
  const Slot* const found = slot(id);
  return found == nullptr ? QRect() : pixels(found->mm);
}

const PageCanvas::Slot* PageCanvas::slot_at(const QPoint& point) const {
  const auto found = std::ranges::find_if(
      slots_, [&](const Slot& slot) { return pixels(slot.mm).contains(point); });
  return found == slots_.end() ? nullptr : &*found;
}

const PageCanvas::Slot* PageCanvas::boundary_at(const QPoint& point) const {
  for (std::size_t i = 0; i + 1 < slots_.size(); ++i) {
    if (slots_[i].row != slots_[i + 1].row) continue;
    const QRect left = pixels(slots_[i].mm), right = pixels(slots_[i + 1].mm);
    if (point.y() < left.top() || point.y() > left.bottom()) continue;
    if (point.x() > left.right() - kReach && point.x() < right.left() + kReach) return &slots_[i];
  }
  return nullptr;
}

PagePlace PageCanvas::place_at(const QPoint& point) const {
  constexpr double edge_share = 0.2, most_edge_mm = 8;
  const double x = (point.x() - kMargin) / scale(), y = (point.y() - kMargin) / scale();
  PagePlace place{0, 0, true};
  for (const Slot& slot : slots_) {
    const double edge = std::min(edge_share * slot.mm.height(), most_edge_mm);
    if (y < slot.mm.top() + edge) continue;
    // Below the upper edge of this row: in it, or after it.
    place.row = slot.row;
    place.new_row = y > slot.mm.bottom() - edge;
    if (place.new_row) place.row = slot.row + 1;
  }
  if (place.new_row) return place;
  for (const Slot& slot : slots_) {
    if (slot.row == place.row && x > slot.mm.center().x()) place.column = slot.column + 1;
  }
  return place;
}

/// The line that shows a place between panels.
QRect PageCanvas::marker(const PagePlace& place) const {
  constexpr int thick = 3;
  if (place.new_row) {
    double y = 0;
    for (const Slot& slot : slots_) {
      if (slot.row + 1 == place.row) y = std::max(y, slot.mm.bottom() + kGapMm / 2);
    }
    return {kMargin, kMargin + static_cast<int>(y * scale()) - thick / 2,
            static_cast<int>(width_mm_ * scale()), thick};
  }
  QRectF row;
  double x = 0;
  for (const Slot& slot : slots_) {
    if (slot.row != place.row) continue;
    row |= slot.mm;
    if (slot.column + 1 == place.column) x = slot.mm.right() + kGapMm / 2;
  }
  const QRect whole = pixels(row);
  return {kMargin + static_cast<int>(x * scale()) - thick / 2, whole.top(), thick, whole.height()};
}

void PageCanvas::paintEvent(QPaintEvent*) {
  const WindowColours& colours = colours_of(*this);
  QPainter painter(this);
  const QRect paper(kMargin, kMargin, static_cast<int>(std::lround(width_mm_ * scale())),
                    static_cast<int>(std::lround(height_mm_ * scale())));
  painter.fillRect(paper, Qt::white);
  if (is_drawn_ && !slots_.empty()) {
    painter.drawImage(paper.topLeft(), page_);
  } else {
    for (const Slot& slot : slots_) {
      const QRect place = pixels(slot.mm);
      const auto known = pictures_.find(slot.id);
      if (known != pictures_.end()) {
        painter.drawImage(place, known->second);
      } else {
        painter.setPen(QColor(90, 90, 90));
        painter.drawText(place, Qt::AlignCenter | Qt::TextWordWrap, slot.figure);
      }
    }
  }
  painter.setPen(colours.border);
  painter.drawRect(paper.adjusted(-1, -1, 0, 0));
  if (slots_.empty()) {
    painter.setPen(QColor(90, 90, 90));
    painter.drawText(paper.adjusted(20, 0, -20, 0), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("Drag figures here from the list, or double-click them."));
  }
  if (const Slot* const shown = slot(selected_)) {
    painter.setPen(QPen(colours.accent, hasFocus() ? 2 : 1));
    painter.drawRect(pixels(shown->mm).adjusted(-3, -3, 2, 2));
  }
  std::optional<PagePlace> place = drop_;
  if (drag_ && drag_->boundary) {
    const QRect panel = place_of(drag_->id);
    painter.fillRect(QRect(*drag_->boundary - 1, panel.top(), 3, panel.height()), colours.accent);
  } else if (drag_ && drag_->moves) {
    place = place_at(mouse_);
    const QRect from = place_of(drag_->id);
    const auto known = pictures_.find(drag_->id);
    painter.setOpacity(0.55);
    if (known != pictures_.end()) {
      painter.drawImage(QRect(from.topLeft() + mouse_ - drag_->from, from.size()), known->second);
    }
    painter.setOpacity(1);
  }
  if (place) painter.fillRect(marker(*place), colours.accent);
}

void PageCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const QPoint at = event->position().toPoint();
  setFocus(Qt::MouseFocusReason);
  mouse_ = at;
  if (const Slot* const before = boundary_at(at)) {
    drag_ = Drag{before->id, at, true, at.x()};
  } else if (const Slot* const under = slot_at(at)) {
    drag_ = Drag{under->id, at, false, std::nullopt};
    select(under->id);
  }
}

void PageCanvas::mouseMoveEvent(QMouseEvent* event) {
  mouse_ = event->position().toPoint();
  if (!drag_) {
    setCursor(boundary_at(mouse_) ? Qt::SplitHCursor
              : slot_at(mouse_)   ? Qt::OpenHandCursor
                                  : Qt::ArrowCursor);
    return;
  }
  if (drag_->boundary) {
    drag_->boundary = mouse_.x();
  } else if ((mouse_ - drag_->from).manhattanLength() >= QApplication::startDragDistance()) {
    drag_->moves = true;
    setCursor(Qt::ClosedHandCursor);
  }
  update();
}

void PageCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !drag_) return;
  const Drag ended = *drag_;
  drag_.reset();
  mouse_ = event->position().toPoint();
  setCursor(Qt::ArrowCursor);
  update();
  if (ended.boundary) {
    // A boundary snaps to twelfths of the page's width.
    const double moved_mm = (mouse_.x() - ended.from.x()) / scale();
    const int twelfths = static_cast<int>(std::lround(moved_mm * 12 / width_mm_));
    if (twelfths != 0) emit widen_wanted(ended.id, twelfths);
  } else if (ended.moves) {
    emit move_wanted(ended.id, place_at(mouse_));
  }
}

void PageCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  drag_.reset();
  if (const Slot* const under = slot_at(event->position().toPoint())) edit_title(under->id);
}

void PageCanvas::edit_title(int id) {
  const Slot* const shown = slot(id);
  if (shown == nullptr) return;
  select(id);
  titled_ = id;
  const QRect place = pixels(shown->mm);
  title_->setText(shown->title);
  title_->setGeometry(
      place.left(), place.top(), place.width(),
      std::max(title_->sizeHint().height(), static_cast<int>(std::lround(kTitleMm * scale()))));
  title_->show();
  title_->selectAll();
  title_->setFocus();
}

void PageCanvas::commit_title() {
  if (titled_ == 0) return;
  const int id = titled_;
  titled_ = 0;
  const bool was_focused = title_->hasFocus();
  title_->hide();
  if (was_focused) setFocus();
  emit title_wanted(id, title_->text().trimmed());
}

/// Enter and Esc end the edit; the dialog around the page must not take them.
bool PageCanvas::eventFilter(QObject* watched, QEvent* event) {
  if (watched != title_ || event->type() != QEvent::KeyPress) {
    return QWidget::eventFilter(watched, event);
  }
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) {
    titled_ = 0;
    title_->hide();
    setFocus();
  } else if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    commit_title();
  } else {
    return false;
  }
  return true;
}

/// The panel above or below at about the same place.
int PageCanvas::other_row(int id, int rows) const {
  const Slot* const from = slot(id);
  if (from == nullptr) return id;
  int nearest = id;
  double least = 1e9;
  for (const Slot& other : slots_) {
    if (static_cast<int>(other.row) != static_cast<int>(from->row) + rows) continue;
    const double apart = std::abs(other.mm.center().x() - from->mm.center().x());
    if (apart < least) nearest = other.id;
    least = std::min(least, apart);
  }
  return nearest;
}

void PageCanvas::keyPressEvent(QKeyEvent* event) {
  const bool moves = event->modifiers().testFlag(Qt::ControlModifier);
  const auto index = [this] {
    return std::ranges::find(slots_, selected_, &Slot::id) - slots_.begin();
  };
  const auto step = [&](int columns, int rows) {
    if (moves) return emit step_wanted(selected_, columns, rows);
    if (rows != 0) return select(other_row(selected_, rows));
    const auto next = index() + columns;
    if (next >= 0 && next < std::ssize(slots_)) select(slots_[static_cast<std::size_t>(next)].id);
  };
  switch (event->key()) {
    case Qt::Key_Left:
      return step(-1, 0);
    case Qt::Key_Right:
      return step(1, 0);
    case Qt::Key_Up:
      return step(0, -1);
    case Qt::Key_Down:
      return step(0, 1);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return emit widen_wanted(selected_, 1);
    case Qt::Key_Minus:
      return emit widen_wanted(selected_, -1);
    case Qt::Key_F2:
      return edit_title(selected_);
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      return emit removal_wanted(selected_);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return emit settings_wanted(selected_);
    case Qt::Key_Escape:
      if (!drag_) return QWidget::keyPressEvent(event);
      drag_.reset();
      return update();
    default:
      QWidget::keyPressEvent(event);
  }
}

void PageCanvas::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse) {
    if (const Slot* const under = slot_at(event->pos())) select(under->id);
  }
  const int id = selected_;
  if (slot(id) == nullptr) return;
  QMenu menu(this);
  menu.addAction(tr("Edit title\tF2"), this, [this, id] { edit_title(id); });
  menu.addAction(tr("Settings\tEnter"), this, [this, id] { emit settings_wanted(id); });
  menu.addSeparator();
  menu.addAction(tr("Wider\t+"), this, [this, id] { emit widen_wanted(id, 1); });
  menu.addAction(tr("Narrower\t−"), this, [this, id] { emit widen_wanted(id, -1); });
  menu.addAction(tr("Own row"), this, [this, id] {
    if (const Slot* const one = slot(id)) emit move_wanted(id, {one->row + 1, 0, true});
  });
  menu.addSeparator();
  menu.addAction(tr("Remove\tDel"), this, [this, id] { emit removal_wanted(id); });
  menu.exec(event->globalPos());
}

void PageCanvas::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void PageCanvas::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

void PageCanvas::dragEnterEvent(QDragEnterEvent* event) {
  if (!dragged_recipe(*event).isEmpty()) event->acceptProposedAction();
}

void PageCanvas::dragMoveEvent(QDragMoveEvent* event) {
  drop_ = place_at(event->position().toPoint());
  event->acceptProposedAction();
  update();
}

void PageCanvas::dragLeaveEvent(QDragLeaveEvent*) {
  drop_.reset();
  update();
}

void PageCanvas::dropEvent(QDropEvent* event) {
  drop_.reset();
  const QString recipe = dragged_recipe(*event);
  event->acceptProposedAction();
  emit figure_dropped(recipe, place_at(event->position().toPoint()));
}

}  // namespace attnscope
