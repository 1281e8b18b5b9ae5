#include "app/window/enlargement.h"

#include <QApplication>
#include <QDockWidget>
#include <QMainWindow>

#include "app/window/atlas_area.h"
#include "app/window/panel_docks.h"

namespace attnscope {

Enlargement::Enlargement(QMainWindow& window, PanelDocks& docks, AtlasArea& atlases)
    : QObject(&window), window_(window), docks_(docks), atlases_(atlases) {
  connect(&docks_, &PanelDocks::enlarge_wanted, this,
          [this](QDockWidget* dock) { toggle_panel(*dock); });
  connect(&docks_, &PanelDocks::place_wanted, this, [this] { leave(); });
  connect(&atlases_, &AtlasArea::enlarge_wanted, this, &Enlargement::toggle_atlas);
}

void Enlargement::begin() {
  before_ = window_.saveState();
  were_still_ = docks_.hold_still(true);
}

void Enlargement::toggle() {
  if (leave()) return;
  for (QWidget* one = QApplication::focusWidget(); one != nullptr; one = one->parentWidget()) {
    if (auto* dock = qobject_cast<QDockWidget*>(one)) return toggle_panel(*dock);
  }
  toggle_atlas();
}

void Enlargement::toggle_panel(QDockWidget& dock) {
  if (leave()) return;
  if (dock.isFloating()) {
    dock.isMaximized() ? dock.showNormal() : dock.showMaximized();
    return;
  }
  begin();
  for (const PanelDocks::PanelDock& one : docks_.all()) {
    if (one.dock != &dock && !one.dock->isFloating()) one.dock->hide();
  }
  window_.centralWidget()->hide();
  dock.show();
}

void Enlargement::toggle_atlas() {
  if (leave()) return;
  begin();
  for (const PanelDocks::PanelDock& one : docks_.all()) {
    if (!one.dock->isFloating()) one.dock->hide();
  }
  atlases_.set_alone(true);
}

bool Enlargement::leave() {
  if (before_.isEmpty()) return false;
  atlases_.set_alone(false);
  window_.centralWidget()->show();
  window_.restoreState(before_);
  before_.clear();
  docks_.hold_still(were_still_);
  return true;
}

}  // namespace attnscope
