#include "app/window/side_room.h"

#include <QAction>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <algorithm>
#include <utility>

namespace attnscope {

namespace {

constexpr int kWideEnough = 1560;  // pixels: three columns, and two atlases between them

bool is_open(const QDockWidget* dock) { return dock->toggleViewAction()->isChecked(); }

}  // namespace

SideRoom::SideRoom(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> read)
    : QObject(&window), window_(window), left_(std::move(left)), read_(std::move(read)) {
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
  if (away_.empty()) docks << left_;
  QList<int> widths;
  for (const QDockWidget* one : docks) widths << one->widget()->sizeHint().width();
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

void SideRoom::give_back() {
  for (QDockWidget* dock : std::exchange(away_, {})) dock->show();
}

bool SideRoom::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) arrange();
  return QObject::eventFilter(watched, event);
}

void SideRoom::arrange() {
  // Not while the window itself is hidden: then no dock is open to be seen.
  if (!window_.isVisible()) return;
  if (window_.width() >= kWideEnough || std::ranges::none_of(read_, is_open)) return give_back();
  if (!away_.empty()) return;
  for (QDockWidget* dock : left_) {
    if (!is_open(dock)) continue;
    away_.push_back(dock);
    dock->hide();
  }
}

}  // namespace attnscope
