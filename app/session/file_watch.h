// Tells when files that other programs write have changed and are complete.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace attnscope {

/// Lives on the window's thread. A change is reported once nothing was written for 0.6 s, so that a
/// half-written file waits. Files replaced by renaming another one over them stay watched. Changes
/// that the system does not announce, as on network file systems, are noticed within 5 s.
class FileWatch : public QObject {
  Q_OBJECT
 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Watches `path` until forget(): a file, with the other parts of a split model, or a folder with
  /// the files in it. Its present contents count as known, unless `is_new`: then they are reported
  /// like a change. Ignored if the path is watched already.
  void watch(const std::filesystem::path& path, bool is_new = false);
  void forget(const std::filesystem::path& path);
  /// Reports names that appear in `folder` or disappear by entries_changed().
  void watch_entries(const std::filesystem::path& folder);
  void forget_entries() { folders_.clear(); }
  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
  /// False if the files at a watched path have changed since changed() reported them.
  [[nodiscard]] bool is_as_known(const std::filesystem::path& path) const;

 signals:
  /// The files at `path` are others than those known, and complete. `exists`: false if they are
  /// gone, and have been for two seconds.
  void changed(const std::filesystem::path& path, bool exists);
  void entries_changed();

 private:
  using Clock = std::chrono::steady_clock;
  /// The state of one file by which its changes are seen.
  struct Part {
    std::filesystem::path file;
    std::uintmax_t size = 0;
    std::filesystem::file_time_type written;
    bool operator==(const Part&) const = default;
  };
  struct Watched {
    std::vector<Part> known, last;  ///< reported last, and seen last; empty: the path is gone
    Clock::time_point since;        ///< `last` has been the same since then
  };
  [[nodiscard]] static std::vector<Part> parts_of(const std::filesystem::path& path);
  void look_soon();
  void look();
  void arm(const std::filesystem::path& path);

  QFileSystemWatcher notices_;
  QTimer soon_, always_;
  std::map<std::filesystem::path, Watched> watched_;
  std::set<std::filesystem::path> folders_;
};

}  // namespace attnscope
