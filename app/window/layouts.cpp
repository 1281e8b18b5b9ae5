#include "app/window/layouts.h"

#include <QInputDialog>
#include <QMainWindow>
#include <QMenu>
#include <QSettings>

namespace attnscope {

namespace {

constexpr const char* kGroup = "layouts";
// Raised when panels are renamed: older arrangements are then left alone.
constexpr int kVersion = 1;

}  // namespace

Layouts::Layouts(QMainWindow& window, QMenu& menu) : QObject(&window), window_(window) {
  connect(&menu, &QMenu::aboutToShow, this, [this, &menu] { fill(menu); });
  fill(menu);
}

void Layouts::fill(QMenu& menu) {
  menu.clear();
  for (const QString& name : names()) {
    menu.addAction(name, this, [this, name] { go_to(name); });
  }
  if (!names().empty()) menu.addSeparator();
  menu.addAction(tr("Save as…"), this, [this] {
    const QString name =
        QInputDialog::getText(&window_, tr("Save the layout"), tr("Name of the layout"));
    if (!name.trimmed().isEmpty()) save_as(name.trimmed());
  });
  if (!names().empty()) {
    QMenu* forget = menu.addMenu(tr("Forget"));
    for (const QString& name : names()) {
      forget->addAction(name, this, [this, name] { remove(name); });
    }
  }
  menu.addAction(tr("Reset"), this, &Layouts::reset);
}

void Layouts::set_default() { default_ = window_.saveState(kVersion); }

void Layouts::reset() {
  emit changing();
  window_.restoreState(default_, kVersion);
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
  emit changing();
  QSettings settings;
  settings.beginGroup(kGroup);
  window_.restoreState(settings.value(name).toByteArray(), kVersion);
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
