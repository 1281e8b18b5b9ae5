#include "app/window/side_room.h"

#include <QAction>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <algorithm>
#include <utility>

namespace attnscope {

namespace {

// Pixels: three columns, and two atlases between them; two columns and the atlases.
constexpr int kThreeColumns = 1560, kTwoColumns = 1180;

bool is_open(const QDockWidget* dock) { return dock->toggleViewAction()->isChecked(); }

}  // namespace

SideRoom::SideRoom(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
                   QList<QDockWidget*> read)
    : QObject(&window),
      window_(window),
      left_{std::move(left), kThreeColumns},
      right_{std::move(right), kTwoColumns},
      read_(std::move(read)) {
  window_.installEventFilter(this);
  for (QDockWidget* dock : read_) {
    connect(dock->toggleViewAction(), &QAction::toggled, this, [this, dock](bool open) {
      arrange();
      if (open) widen(dock);
    });
  }
}

void SideRoom::widen(QDockWidget* dock) {
  // All of the side are named: Qt would take the room from those that are not.
  QList<QDockWidget*> docks = {dock};
  if (left_.away.empty()) docks << left_.docks;
  QList<int> widths;
  for (const QDockWidget* one : docks) widths << one->widget()->sizeHint().width();
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
  if (event->type() == QEvent::Resize) arrange();
  return QObject::eventFilter(watched, event);
}

void SideRoom::arrange() {
  // Not while the window itself is hidden: then no dock is open to be seen.
  if (!window_.isVisible()) return;
  const bool reading = std::ranges::any_of(read_, is_open);
  for (Side* side : {&left_, &right_}) {
    if (reading && window_.width() < side->least_width) {
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
