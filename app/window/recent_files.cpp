#include "app/window/recent_files.h"

#include <QDir>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStringList>
#include <utility>

namespace attnscope {

namespace {

constexpr const char* kKey = "recent_files";
constexpr int kMost = 10;

}  // namespace

RecentFiles::RecentFiles(QObject* parent) : QObject(parent) {}

void RecentFiles::add(const std::filesystem::path& file) {
  QSettings settings;
  QStringList files = settings.value(kKey).toStringList();
  // A folder's path may end with a slash, after which there would be no name.
  const QString path =
      QDir::cleanPath(QFileInfo(QString::fromStdString(file.string())).absoluteFilePath());
  files.removeAll(path);
  files.prepend(path);
  settings.setValue(kKey, files.mid(0, kMost));
}

void RecentFiles::fill(QMenu* menu, std::function<void(const std::filesystem::path&)> open) {
  menu->setToolTipsVisible(true);
  connect(menu, &QMenu::aboutToShow, menu, [menu, open = std::move(open)] {
    menu->clear();
    for (const QString& path : QSettings().value(kKey).toStringList()) {
      QAction* action = menu->addAction(QFileInfo(path).fileName());
      action->setToolTip(path);
      connect(action, &QAction::triggered, menu, [open, path] { open(path.toStdString()); });
    }
    if (menu->isEmpty()) {
      menu->addAction(tr("Nothing opened yet"))->setEnabled(false);
      return;
    }
    menu->addSeparator();
    connect(menu->addAction(tr("Clear list")), &QAction::triggered, menu,
            [] { QSettings().remove(kKey); });
  });
}

}  // namespace attnscope
