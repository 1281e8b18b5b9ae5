// Input events of an atlas: mouse, wheel, touch and keys.
#include <QAccessible>
#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QStyleHints>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/lens.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

/// Distance from a wipe's divider within which it can be dragged, logical pixels.
constexpr double divider_reach = 7;

}  // namespace

bool AtlasCanvas::event(QEvent* event) {
  if (event->type() == QEvent::NativeGesture) {
    auto* gesture = static_cast<QNativeGestureEvent*>(event);
    if (gesture->gestureType() == Qt::ZoomNativeGesture) {
      zoom_at(gesture->position(), 1 + gesture->value());
      return true;
    }
  }
  if (event->type() == QEvent::ShortcutOverride && lens_ && lens_->typing()) {
    event->accept();  // letters typed into a field are not shortcuts
    return true;
  }
  return GraphicsWidget::event(event);
}

void AtlasCanvas::mousePressEvent(QMouseEvent* event) {
  if (lens_ && lens_up() && lens_->mouse(*event)) {
    stop_hovering();
    update();
    return;
  }
  update();
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) {
    GraphicsWidget::mousePressEvent(event);
    return;
  }
  if (event->button() == Qt::LeftButton && on_divider(event->position())) {
    wiping_ = true;
    stop_hovering();
    drag_divider(event->position());
    return;
  }
  if (event->button() == Qt::LeftButton && event->modifiers().testFlag(Qt::ShiftModifier)) {
    block_from_ = map_under(event->position());
    block_dragged_ = false;
    if (block_from_) return;
  }
  pressed_ = true;
  dragging_ = false;
  pressed_at_ = dragged_from_ = event->position();
}

std::optional<MapIndex> AtlasCanvas::map_under(QPointF position) const {
  const auto cell = cell_at(position);
  const bool heads = session_.view().head_fusion == HeadFusion::none;
  return cell && heads ? std::optional(MapIndex{cell->layer, cell->column}) : std::nullopt;
}

void AtlasCanvas::select_up_to(QPointF position) {
  const std::optional<MapIndex> to = map_under(position);
  if (!to || (!block_dragged_ && *to == *block_from_)) return;
  block_dragged_ = true;
  session_.select_map(subject_, block_from_->layer, block_from_->head);
  Selection selection = session_.selection();
  selection.to = *to;
  session_.select(selection);
}

void AtlasCanvas::end_block(QPointF position) {
  const MapIndex from = *block_from_;
  block_from_.reset();
  if (block_dragged_) return;
  Selection selection = session_.selection();
  if (selection.subject != subject_) return click(position);
  selection.to = from;
  session_.select(selection);
}

void AtlasCanvas::contextMenuEvent(QContextMenuEvent* event) {
  const QPointF position(event->pos());
  if (lens_up() && lens_place_.lens.contains(position)) return;
  stop_hovering();
  emit link_.menu_wanted(subject_, cell_at(position), event->globalPos());
}

bool AtlasCanvas::on_divider(QPointF position) const {
  const std::optional<double> divider = wipe_divider();
  return divider && std::abs(position.x() - *divider) <= divider_reach &&
         frame().viewport.contains(position);
}

void AtlasCanvas::drag_divider(QPointF position) {
  const QRectF viewport = frame().viewport;
  ViewSettings view = session_.view();
  view.wipe_position = (position.x() - viewport.left()) / viewport.width();
  session_.set_view(view);
}

void AtlasCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (wiping_) {
    drag_divider(event->position());
    return;
  }
  if (block_from_) {
    select_up_to(event->position());
    return;
  }
  if (!pressed_ && lens_ && lens_up() && lens_->moved(event->position())) {
    stop_hovering();
    setCursor(Qt::ArrowCursor);
    update();
    return;
  }
  if (lens_ && lens_up() && lens_->restless()) update();
  if (pressed_ && !dragging_ &&
      (event->position() - pressed_at_).manhattanLength() >=
          QGuiApplication::styleHints()->startDragDistance()) {
    dragging_ = true;
    setCursor(Qt::ClosedHandCursor);
    stop_hovering();
  }
  if (dragging_) {
    set_zoom_by_hand(zoom_.panned(event->position() - dragged_from_));
    dragged_from_ = event->position();
    return;
  }
  if (on_divider(event->position())) {
    stop_hovering();
    setCursor(Qt::SplitHCursor);
    return;
  }
  hover(event->position());
}

void AtlasCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (wiping_) {
    wiping_ = false;
    return;
  }
  if (block_from_) {
    end_block(event->position());
    return;
  }
  if (!pressed_) {
    if (lens_ && lens_up()) lens_->mouse(*event);
    update();
    return;
  }
  const bool clicked = !dragging_ && event->button() == Qt::LeftButton;
  pressed_ = dragging_ = false;
  setCursor(Qt::ArrowCursor);
  if (clicked) click(event->position());
  hover(event->position());
}

void AtlasCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (lens_ && lens_up() && lens_->mouse(*event)) {
    update();
    return;
  }
  if (event->button() != Qt::LeftButton) return;
  const auto cell = cell_at(event->position());
  const bool enlarged = cell && link_.view() == AtlasLink::View::map &&
                        link_.map_layer() == cell->layer && link_.map_column() == cell->column;
  if (!cell || enlarged) {
    link_.fit();
  } else {
    stop_hovering();
    link_.show_map(cell->layer, cell->column);
  }
}

void AtlasCanvas::wheelEvent(QWheelEvent* event) {
  if (lens_ && lens_up() && lens_->wheel(*event)) {
    update();
    return;
  }
  event->accept();
  const bool touchpad =
      event->device() != nullptr && event->device()->type() == QInputDevice::DeviceType::TouchPad;
  const bool zooming = event->modifiers().testFlag(Qt::ControlModifier);
  if (!zooming && touchpad && !event->pixelDelta().isNull()) {
    set_zoom_by_hand(zoom_.panned(event->pixelDelta()));
  } else if (!zooming && event->modifiers().testFlag(Qt::ShiftModifier)) {
    const QPoint angle = event->angleDelta();
    set_zoom_by_hand(zoom_.panned(QPointF(angle.y() != 0 ? angle.y() : angle.x(), 0) * 0.5));
  } else {
    const int angle =
        event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    zoom_at(event->position(), std::pow(1.2, angle / 120.0));
  }
  hover(event->position());
}

void AtlasCanvas::leaveEvent(QEvent*) {
  if (lens_) {
    lens_->left();
    update();
  }
  stop_hovering();
}

// --- keys
// -----------------------------------------------------------------------------------------

bool AtlasCanvas::focusNextPrevChild(bool next) {
  const bool reachable = hasFocus() && lens_up() && maps();
  if (!reachable || (!lens_field_ && !next)) return GraphicsWidget::focusNextPrevChild(next);
  const int field = lens_field_ ? static_cast<int>(*lens_field_) + (next ? 1 : -1) : 0;
  if (field >= lens_fields) return GraphicsWidget::focusNextPrevChild(next);
  focus_lens(field < 0 ? std::nullopt : std::optional(static_cast<LensField>(field)));
  return true;
}

void AtlasCanvas::focusOutEvent(QFocusEvent* event) {
  focus_lens(std::nullopt);
  GraphicsWidget::focusOutEvent(event);
}

void AtlasCanvas::focus_lens(std::optional<LensField> field) {
  if (field == lens_field_) return;
  lens_field_ = field;
  update_accessible_name();
  update();
}

bool AtlasCanvas::lens_key(int key) {
  if (!lens_field_) return false;
  const ValueRange range = link_.range(session_.selection().subject), full = link_.full_range();
  switch (key) {
    case Qt::Key_Escape:
      focus_lens(std::nullopt);
      return true;
    case Qt::Key_Left:
    case Qt::Key_Down:
    case Qt::Key_Minus:
      session_.set_view(stepped(session_.view(), *lens_field_, -1, range, full));
      break;
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Plus:
      session_.set_view(stepped(session_.view(), *lens_field_, 1, range, full));
      break;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      session_.set_view(pressed(session_.view(), *lens_field_, range, full));
      break;
    default:
      return false;
  }
  update_accessible_name();
  return true;
}

void AtlasCanvas::keyPressEvent(QKeyEvent* event) {
  if (lens_ && lens_up() && lens_->key(*event, true)) {
    update();
    return;
  }
  if (lens_key(event->key())) return;
  const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
  if ((event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) != Qt::NoModifier) {
    GraphicsWidget::keyPressEvent(event);
    return;
  }
  const QPointF middle = frame().viewport.center();
  switch (event->key()) {
    case Qt::Key_F:
      link_.fit();
      break;
    case Qt::Key_Escape:
      if (link_.view() == AtlasLink::View::fit) {
        GraphicsWidget::keyPressEvent(event);
        return;
      }
      link_.fit();
      break;
    case Qt::Key_R:
      link_.fit();
      session_.reset_lens();
      break;
    case Qt::Key_L:
      if (lens_shown()) {
        link_.set_lens_open(!link_.lens_open());
        break;
      }
      GraphicsWidget::keyPressEvent(event);
      return;
    case Qt::Key_C:
      session_.select_class_token();
      break;
    case Qt::Key_Space:
      link_.blink();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      link_.show_map(link_.map_layer(), link_.map_column());
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom_at(middle, 1.25);
      break;
    case Qt::Key_Minus:
      zoom_at(middle, 0.8);
      break;
    case Qt::Key_Left:
      walk(0, shift ? 0 : -1, shift ? -1 : 0);
      break;
    case Qt::Key_Right:
      walk(0, shift ? 0 : 1, shift ? 1 : 0);
      break;
    case Qt::Key_Up:
      walk(shift ? 0 : -1, 0, shift ? -1 : 0);
      break;
    case Qt::Key_Down:
      walk(shift ? 0 : 1, 0, shift ? 1 : 0);
      break;
    default:
      GraphicsWidget::keyPressEvent(event);
  }
}

void AtlasCanvas::keyReleaseEvent(QKeyEvent* event) {
  if (lens_ && lens_up() && lens_->key(*event, false)) {
    update();
    return;
  }
  GraphicsWidget::keyReleaseEvent(event);
}

void AtlasCanvas::hover(QPointF position) {
  const auto cell = cell_at(position);
  const auto shown = maps();
  if (!cell || !shown) {
    stop_hovering();
    return;
  }
  setCursor(Qt::CrossCursor);
  Selection selection = session_.selection();
  selection.hover = {subject_, cell->layer, cell->column, shown->query_of(cell->layer, cell->query),
                     shown->key_of(cell->layer, cell->key)};
  session_.select(selection);
}

void AtlasCanvas::stop_hovering() {
  Selection selection = session_.selection();
  if (!selection.hover || selection.hover->subject != subject_) return;
  setCursor(Qt::ArrowCursor);
  selection.hover.reset();
  session_.select(selection);
}

void AtlasCanvas::click(QPointF position) {
  const auto cell = cell_at(position);
  Selection selection = session_.selection();
  if (!cell) {
    session_.select_map(subject_, selection.layer, selection.head);
    return;
  }
  selection.subject = subject_;
  selection.to.reset();
  selection.layer = cell->layer;
  if (session_.view().head_fusion == HeadFusion::none) selection.head = cell->column;
  selection.query = maps()->query_of(cell->layer, cell->query);
  session_.select(selection);
}

void AtlasCanvas::walk(std::int64_t layers, std::int64_t heads, std::int64_t queries) {
  const auto shown = maps();
  if (!shown) return;
  Selection selection = session_.selection();
  // One map by itself is left for its neighbour, beyond the end of a layer too.
  if (heads != 0 && stage()) return step_map(static_cast<int>(heads));
  if (layers != 0 || heads != 0) {
    leave_for([&] {
      const Selection& now = session_.selection();
      session_.select_map(now.subject, now.layer + layers, now.head + heads);
    });
  }
  if (queries != 0) {
    const std::int64_t layer = selection.layer;
    std::int64_t query = std::max(selection.query + queries, shown->query_of(layer, 0));
    while (shown->row_of(layer, query) < 0 && query > 0 && query < shown->trace().tokens()) {
      query += queries > 0 ? 1 : -1;  // skips tokens that are not shown
    }
    if (shown->row_of(layer, query) >= 0) selection.query = query;
    session_.select(selection);
  }
}

std::optional<MapCell> AtlasCanvas::selected_cell(const ShownMaps& maps) const {
  const Selection& selection = session_.selection();
  const std::int64_t column = maps.settings().head_fusion == HeadFusion::none ? selection.head : 0;
  if (selection.layer >= maps.grid().layers || column >= maps.grid().columns) return std::nullopt;
  // The map is marked without a row if this model does not have the token.
  const auto query = selected_query(session_, subject_, selection.layer);
  return MapCell{selection.layer, column, query ? maps.row_of(selection.layer, *query) : -1, 0};
}

void AtlasCanvas::update_accessible_name() {
  const OpenSubject* const open = session_.find(subject_);
  if (!open) return;
  setAccessibleName(tr("Attention maps of %1").arg(QString::fromStdString(open->subject.label)));
  if (lens_field_) {
    setAccessibleDescription(
        described(session_.view(), *lens_field_, link_.range(session_.selection().subject)));
    QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
    return;
  }
  const Selection& selection = session_.selection();
  setAccessibleDescription(tr("layer %1, head %2, query %3 selected")
                               .arg(selection.layer)
                               .arg(selection.head)
                               .arg(selection.query));
}

}  // namespace attnscope
