// The most recently opened models, their folders, traces and sessions, remembered between runs.
#pragma once

#include <QObject>
#include <filesystem>
#include <functional>

class QMenu;

namespace attnscope {

class RecentFiles : public QObject {
  Q_OBJECT
 public:
  explicit RecentFiles(QObject* parent = nullptr);
  void add(const std::filesystem::path& file);
  /// Fills `menu` whenever it opens; `open` is called with the chosen file.
  void fill(QMenu* menu, std::function<void(const std::filesystem::path&)> open);
};

}  // namespace attnscope
