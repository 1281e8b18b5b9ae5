#include "app/window/panel_docks.h"

#include <QAction>
#include <QDockWidget>
#include <QLayout>
#include <QMainWindow>
#include <QMenu>
#include <algorithm>

#include "app/panels/frame/dock_panel.h"
#include "app/window/side_room.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr int kLeftWidth = 292;
constexpr int kRightWidth = 390, kNarrowRight = 300, kWidestRight = 560;
constexpr int kNarrow = 1180;        // pixels of a window that has no room for the usual widths
constexpr int kAboveAndBelow = 120;  // pixels of the window that are no dock's

bool is_left(PanelPlace place) {
  return place == PanelPlace::models || place == PanelPlace::inputs;
}

}  // namespace

PanelDocks::PanelDocks(QMainWindow& window, const PanelContext& context)
    : QObject(&window), window_(window) {
  for (const PanelEntry& entry : panels()) {
    DockPanel* const panel = entry.make(context);
    docks_.push_back({&entry, panel, dock_of(panel, entry.name, !entry.open)});
    connect(panel, &DockPanel::command_wanted, this, &PanelDocks::command_wanted);
    connect(panel, &DockPanel::panel_wanted, this, &PanelDocks::panel_wanted);
  }
}

PanelDocks::~PanelDocks() {
  delete side_room_;  // it knows them
  for (const PanelDock& one : docks_) delete one.dock;
}

QDockWidget* PanelDocks::first_at(PanelPlace place) const {
  const auto found = std::ranges::find_if(
      docks_, [place](const PanelDock& one) { return one.entry->place == place; });
  return found == docks_.end() ? nullptr : found->dock;
}

void PanelDocks::place(QMenu& menu) {
  QList<QDockWidget*> lefts, rights, besides;
  for (const auto& [entry, panel, dock] : docks_) {
    if (entry->place == PanelPlace::beside) {
      window_.addDockWidget(Qt::LeftDockWidgetArea, dock, Qt::Horizontal);
      besides << dock;
    } else {
      const bool left = is_left(entry->place);
      window_.addDockWidget(left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
      (left ? lefts : rights) << dock;
    }
    QDockWidget* const first = first_at(entry->place);
    if (first != dock) window_.tabifyDockWidget(first, dock);
    dock->setVisible(entry->open);
    menu.addAction(dock->toggleViewAction());
  }
  for (const PanelDock& one : docks_) {
    if (one.dock == first_at(one.entry->place)) one.dock->raise();
  }
  // Else the first width is one with room for the docks that are closed.
  window_.layout()->activate();
  side_room_ = new SideRoom(window_, lefts, rights, besides);
}

void PanelDocks::arrange() {
  const auto dock = [this](PanelPlace place) { return first_at(place); };
  using enum PanelPlace;
  const int least = window_.width() < kNarrow ? kNarrowRight : kRightWidth;
  const int right = std::clamp(window_.width() * 29 / 100, least, kWidestRight);
  window_.resizeDocks({dock(models), dock(spectrum)}, {kLeftWidth, right}, Qt::Horizontal);
  const int room = window_.height() - kAboveAndBelow;
  window_.resizeDocks({dock(models), dock(inputs)}, {room * 55 / 100, room * 45 / 100},
                      Qt::Vertical);
  window_.resizeDocks({dock(spectrum), dock(map), dock(numbers)},
                      {room * 35 / 100, room * 35 / 100, room * 30 / 100}, Qt::Vertical);
}

void PanelDocks::show(const std::string& name) {
  const auto found = std::ranges::find_if(
      docks_, [&name](const PanelDock& one) { return one.entry->name == name; });
  if (found == docks_.end()) {
    throw unknown_name("panel", name, name_list(panels(), &PanelEntry::name));
  }
  found->dock->show();
  found->dock->raise();
}

bool PanelDocks::open_document(const std::filesystem::path& file) {
  for (const PanelDock& one : docks_) {
    if (!one.panel->open_document(file)) continue;
    show(one.entry->name);
    return true;
  }
  return false;
}

void PanelDocks::hide_for_presentation() {
  for (const PanelDock& one : docks_) {
    if (!one.entry->presented) one.dock->hide();
  }
}

void PanelDocks::give_back() { side_room_->give_back(); }

PanelSettings PanelDocks::settings() const {
  PanelSettings settings;
  for (const PanelDock& one : docks_) {
    ControlValues values = one.panel->settings();
    if (!values.empty()) settings[one.entry->name] = std::move(values);
  }
  return settings;
}

void PanelDocks::restore_settings(const PanelSettings& settings) {
  for (const PanelDock& one : docks_) {
    const auto found = settings.find(one.entry->name);
    if (found != settings.end()) one.panel->restore_settings(found->second);
  }
}

bool PanelDocks::settled() const {
  return std::ranges::none_of(docks_, [](const PanelDock& one) { return one.panel->is_behind(); });
}

}  // namespace attnscope
