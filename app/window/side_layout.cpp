#include "app/window/side_layout.h"

#include <QAction>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QResizeEvent>
#include <algorithm>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

namespace {

// Minimum window widths in pixels at the default font size while a reading dock is open: for both
// side columns, and for the right column only.
constexpr int kThreeColumns = 1560, kTwoColumns = 1180;
// Minimum window widths without a reading dock: for both side columns, and for the right column
// only.
constexpr int kBothSides = 1180, kRightSide = 900;

bool is_open(const QDockWidget* dock) { return dock->toggleViewAction()->isChecked(); }

}  // namespace

SideLayout::SideLayout(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
                       QList<QDockWidget*> read)
    : QObject(&window),
      window_(window),
      left_{std::move(left), kBothSides, kThreeColumns},
      right_{std::move(right), kRightSide, kTwoColumns},
      read_(std::move(read)) {
  window_.installEventFilter(this);
  for (QDockWidget* dock : left_.docks + right_.docks) dock->installEventFilter(this);
  for (QDockWidget* dock : read_) {
    connect(dock->toggleViewAction(), &QAction::toggled, this, [this, dock](bool open) {
      if (still_ || !window_.isVisible()) return;
      if (open && !reading_) begin_reading();
      arrange();
      if (open) widen(dock);
      if (reading_ && !reading()) end_reading();
    });
  }
}

void SideLayout::hold_still(bool still) { still_ = still; }

bool SideLayout::reading() const { return std::ranges::any_of(read_, is_open); }

void SideLayout::begin_reading() {
  reading_ = true;
  before_ = sizes_;
}

void SideLayout::end_reading() {
  reading_ = false;
  QList<QDockWidget*> docks, left;
  QList<int> widths, heights;
  for (auto one = before_.cbegin(); one != before_.cend(); ++one) {
    if (!one.key()->isVisible() || one.key()->isFloating()) continue;
    docks << one.key();
    widths << one.value().width();
    if (!left_.docks.contains(one.key())) continue;
    left << one.key();
    heights << one.value().height();
  }
  before_.clear();
  window_.resizeDocks(docks, widths, Qt::Horizontal);
  // The hidden left docks were one above the other, so Qt restores them only with their minimum
  // heights.
  window_.resizeDocks(left, heights, Qt::Vertical);
}

void SideLayout::widen(QDockWidget* dock) {
  // All docks of the side are listed, because Qt would take the space from those that are not.
  QList<QDockWidget*> docks = {dock};
  if (left_.away.empty()) docks << left_.docks;
  QList<int> widths;
  for (QDockWidget* one : docks) {
    widths << (one == dock ? one->widget()->sizeHint().width()
                           : before_.value(one, one->size()).width());
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

void SideLayout::restore(Side& side) {
  for (QDockWidget* dock : std::exchange(side.away, {})) dock->show();
  for (QDockWidget* dock : std::exchange(side.in_front, {})) dock->raise();
}

void SideLayout::restore() {
  restore(left_);
  restore(right_);
}

bool SideLayout::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &window_) {
    const bool letters = event->type() == QEvent::FontChange;
    if (letters || event->type() == QEvent::Resize || event->type() == QEvent::Show) arrange();
  } else if (event->type() == QEvent::Resize && !reading_) {
    // A dock that becomes visible is resized before its visibility changes.
    auto* const dock = static_cast<QDockWidget*>(watched);
    if (std::ranges::all_of(read_, &QDockWidget::isHidden) && !dock->visibleRegion().isEmpty()) {
      sizes_[dock] = dock->size();
    }
  }
  return QObject::eventFilter(watched, event);
}

void SideLayout::arrange() {
  // Nothing is arranged while the window itself is hidden, because no dock counts as open then.
  if (still_ || !window_.isVisible()) return;
  const bool reads = reading();
  // Columns grow with the font size, so fewer of them fit next to the maps.
  const double room = window_.width() / text_scale_of(window_.font());
  for (Side* side : {&left_, &right_}) {
    if (room < (reads ? side->least_beside : side->least_width)) {
      put_away(*side);
    } else {
      restore(*side);
    }
  }
}

void SideLayout::put_away(Side& side) {
  if (!side.away.empty()) return;
  for (QDockWidget* dock : side.docks) {
    if (!is_open(dock)) continue;
    side.away.push_back(dock);
    if (!dock->visibleRegion().isEmpty()) side.in_front.push_back(dock);
  }
  for (QDockWidget* dock : side.away) dock->hide();
}

}  // namespace attnscope
