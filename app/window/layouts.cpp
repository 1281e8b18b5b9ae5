#include "app/window/layouts.h"

#include <QDockWidget>
#include <QInputDialog>
#include <QMainWindow>
#include <QMenu>
#include <QSettings>

namespace attnscope {

namespace {

constexpr const char* kGroup = "layouts";
// Version of saved layouts, increased when panels are renamed; layouts of other versions are
// ignored.
constexpr int kVersion = 2;

}  // namespace

std::span<const WorkLayout> work_layouts() {
  static const WorkLayout list[] = {
      {"Explore", QT_TR_NOOP("Models, maps, curves and ranks side by side"), "Ctrl+1", "", "", 0},
      {"Compare", QT_TR_NOOP("Maps at their largest, next to curves, query and comparison"),
       "Ctrl+2", "spectrum row comparison all-maps", "spectrum row comparison", 0},
      {"Publish", QT_TR_NOOP("Curves and numbers large, as they are printed"), "Ctrl+3",
       "spectrum all-maps comparison", "spectrum all-maps", 48},
      {"Teach", QT_TR_NOOP("A lesson next to maps and curves"), "Ctrl+4", "lessons spectrum row",
       "lessons spectrum row", 26, "lessons", 36},
  };
  return list;
}

Layouts::Layouts(QMainWindow& window, QMenu& menu) : QObject(&window), window_(window) {
  connect(&menu, &QMenu::aboutToShow, this, [this, &menu] { fill(menu); });
  fill(menu);
}

void Layouts::fill(QMenu& menu) {
  menu.clear();
  menu.setToolTipsVisible(true);
  const auto add = [&](const QString& name, const QString& key, auto run) {
    return menu.addAction(name + '\t' + key, this, run);
  };
  for (const WorkLayout& layout : work_layouts()) {
    add(tr(layout.name), layout.key, [this, &layout] {
      go_to(layout);
    })->setToolTip(tr(layout.purpose));
  }
  menu.addSeparator();
  const QStringList own = names();
  for (int place = 0; place < own.size(); ++place) {
    add(own[place], key_of_own(place).toString(QKeySequence::NativeText),
        [this, name = own[place]] { go_to(name); });
  }
  menu.addAction(tr("Save as…"), this, [this] {
    const QString name =
        QInputDialog::getText(&window_, tr("Save the layout"), tr("Name of the layout"));
    if (!name.trimmed().isEmpty()) save_as(name.trimmed());
  });
  if (!own.empty()) {
    QMenu* forget = menu.addMenu(tr("Forget"));
    for (const QString& name : own) {
      forget->addAction(name, this, [this, name] { remove(name); });
    }
  }
  menu.addAction(tr("Reset"), this, &Layouts::reset);
}

void Layouts::set_default() { default_ = window_.saveState(kVersion); }

/// Restores a layout with a single redraw at the end.
void Layouts::restore(const QByteArray& state) {
  emit changing();
  window_.setUpdatesEnabled(false);
  window_.restoreState(state, kVersion);
  window_.setUpdatesEnabled(true);
  emit changed();
}

void Layouts::reset() { restore(default_); }

void Layouts::go_to(const WorkLayout& layout) {
  const QStringList open = QString::fromUtf8(layout.open).split(' ', Qt::SkipEmptyParts);
  if (open.isEmpty()) return reset();
  emit changing();
  window_.setUpdatesEnabled(false);
  window_.restoreState(default_, kVersion);
  for (QDockWidget* dock : window_.findChildren<QDockWidget*>()) {
    dock->setVisible(open.contains(dock->objectName()));
  }
  for (const QString& name : QString::fromUtf8(layout.in_front).split(' ', Qt::SkipEmptyParts)) {
    if (auto* dock = window_.findChild<QDockWidget*>(name)) dock->raise();
  }
  QList<QDockWidget*> docks;
  QList<int> widths;
  const auto widen = [&](const char* name, int percent) {
    auto* const dock = window_.findChild<QDockWidget*>(QLatin1String(name));
    if (dock == nullptr || percent == 0) return;
    docks << dock;
    widths << window_.width() * percent / 100;
  };
  widen("spectrum", layout.percent_right);
  if (layout.beside != nullptr) widen(layout.beside, layout.percent_beside);
  window_.resizeDocks(docks, widths, Qt::Horizontal);
  window_.setUpdatesEnabled(true);
  emit changed();
}

QStringList Layouts::names() const {
  QSettings settings;
  settings.beginGroup(kGroup);
  return settings.childKeys();
}

void Layouts::save_as(const QString& name) {
  QSettings settings;
  settings.beginGroup(kGroup);
  settings.setValue(QString(name).replace('/', '-'), window_.saveState(kVersion));
}

void Layouts::go_to(const QString& name) {
  QSettings settings;
  settings.beginGroup(kGroup);
  restore(settings.value(name).toByteArray());
}

void Layouts::go_to_own(int place) {
  const QStringList own = names();
  if (place < own.size()) go_to(own[place]);
}

QKeySequence Layouts::key_of_own(int place) {
  const int number = place + 1 + static_cast<int>(work_layouts().size());
  return number <= 9 ? QKeySequence("Ctrl+" + QString::number(number)) : QKeySequence();
}

void Layouts::remove(const QString& name) {
  QSettings settings;
  settings.beginGroup(kGroup);
  settings.remove(name);
}

void Layouts::remember_last() const {
  QSettings settings;
  settings.setValue("window/geometry", window_.saveGeometry());
  settings.setValue("window/docks", window_.saveState(kVersion));
}

void Layouts::restore_last() {
  const QSettings settings;
  window_.restoreGeometry(settings.value("window/geometry").toByteArray());
  window_.restoreState(settings.value("window/docks").toByteArray(), kVersion);
}

}  // namespace attnscope
