#include "app/window/side_room.h"

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

// Pixels, for letters of usual size: three columns, and two atlases between them; two columns and
// the atlases.
constexpr int kThreeColumns = 1560, kTwoColumns = 1180;
// The left column and the atlases with one beside them; the atlases and the right column.
constexpr int kBothSides = 1180, kRightSide = 900;

bool is_open(const QDockWidget* dock) { return dock->toggleViewAction()->isChecked(); }

}  // namespace

SideRoom::SideRoom(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
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

void SideRoom::hold_still(bool still) { still_ = still; }

bool SideRoom::reading() const { return std::ranges::any_of(read_, is_open); }

void SideRoom::begin_reading() {
  reading_ = true;
  before_ = sizes_;
}

void SideRoom::end_reading() {
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
  // The left side was away, one dock above the other: Qt gives each what it asks for at least.
  window_.resizeDocks(left, heights, Qt::Vertical);
}

void SideRoom::widen(QDockWidget* dock) {
  // All of the side are named: Qt would take the room from those that are not.
  QList<QDockWidget*> docks = {dock};
  if (left_.away.empty()) docks << left_.docks;
  QList<int> widths;
  for (QDockWidget* one : docks) {
    widths << (one == dock ? one->widget()->sizeHint().width()
                           : before_.value(one, one->size()).width());
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

void SideRoom::give_back(Side& side) {
  for (QDockWidget* dock : std::exchange(side.away, {})) dock->show();
  for (QDockWidget* dock : std::exchange(side.in_front, {})) dock->raise();
}

void SideRoom::give_back() {
  give_back(left_);
  give_back(right_);
}

bool SideRoom::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &window_) {
    const bool letters = event->type() == QEvent::FontChange;
    if (letters || event->type() == QEvent::Resize || event->type() == QEvent::Show) arrange();
  } else if (event->type() == QEvent::Resize && !reading_) {
    // A dock that is about to be seen takes its room before it says so.
    auto* const dock = static_cast<QDockWidget*>(watched);
    if (std::ranges::all_of(read_, &QDockWidget::isHidden) && !dock->visibleRegion().isEmpty()) {
      sizes_[dock] = dock->size();
    }
  }
  return QObject::eventFilter(watched, event);
}

void SideRoom::arrange() {
  // Not while the window itself is hidden: then no dock is open to be seen.
  if (still_ || !window_.isVisible()) return;
  const bool reads = reading();
  // Columns grow with their letters: of larger ones fewer find room beside the maps.
  const double room = window_.width() / text_scale_of(window_.font());
  for (Side* side : {&left_, &right_}) {
    if (room < (reads ? side->least_beside : side->least_width)) {
      put_away(*side);
    } else {
      give_back(*side);
    }
  }
}

void SideRoom::put_away(Side& side) {
  if (!side.away.empty()) return;
  for (QDockWidget* dock : side.docks) {
    if (!is_open(dock)) continue;
    side.away.push_back(dock);
    if (!dock->visibleRegion().isEmpty()) side.in_front.push_back(dock);
  }
  for (QDockWidget* dock : side.away) dock->hide();
}

}  // namespace attnscope
