// Reads the files of open models and traces again when other programs have replaced them.
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <map>

#include "app/session/file_watch.h"

namespace attnscope {

class Session;

/// Lives on the window's thread, next to its session. A new file takes the place of the former one
/// with its overlays, changed maps, selection and view. A file that cannot be read changes nothing
/// on the screen. OpenSubject::file_change tells of either.
class WatchedFiles : public QObject {
  Q_OBJECT
 public:
  explicit WatchedFiles(Session& session, QObject* parent = nullptr);

 private:
  void follow_subjects();
  void take_change(const std::filesystem::path& file, bool exists);
  void read(const std::filesystem::path& file);

  Session& session_;
  FileWatch watch_;
  std::map<std::filesystem::path, std::int64_t> readings_;  ///< number of changes of each file
};

}  // namespace attnscope
