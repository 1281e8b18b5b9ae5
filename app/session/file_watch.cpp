#include "app/session/file_watch.h"

#include <algorithm>
#include <system_error>

#include "core/checkpoint/weight_files.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLookAgain = 200ms, kLookAlways = 5000ms;
// Writers pause between the parts of a file, and between removing a file and writing the next one.
constexpr auto kStill = 600ms, kGone = 2000ms;

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  soon_.setSingleShot(true);
  connect(&soon_, &QTimer::timeout, this, &FileWatch::look);
  connect(&always_, &QTimer::timeout, this, [this] {
    if (!folders_.empty()) emit entries_changed();
    look();
  });
  always_.setInterval(kLookAlways);
  connect(&notices_, &QFileSystemWatcher::fileChanged, this, &FileWatch::look_soon);
  connect(&notices_, &QFileSystemWatcher::directoryChanged, this, [this](const QString& folder) {
    look_soon();
    if (folders_.contains(folder.toStdString())) emit entries_changed();
  });
}

void FileWatch::watch(const fs::path& path, bool is_new) {
  const auto [at, is_first] = watched_.try_emplace(path);
  if (!is_first) return;
  at->second.last = parts_of(path);
  at->second.since = Clock::now();
  if (!is_new) at->second.known = at->second.last;
  arm(path);
  always_.start();
  if (is_new) look_soon();
}

void FileWatch::forget(const fs::path& path) {
  if (watched_.erase(path) > 0) notices_.removePath(QString::fromStdString(path.string()));
}

void FileWatch::watch_entries(const fs::path& folder) {
  folders_.insert(folder);
  notices_.addPath(QString::fromStdString(folder.string()));
  if (!always_.isActive()) always_.start();
}

std::vector<fs::path> FileWatch::paths() const {
  std::vector<fs::path> paths;
  for (const auto& [path, watched] : watched_) paths.push_back(path);
  return paths;
}

bool FileWatch::is_as_known(const fs::path& path) const {
  const auto found = watched_.find(path);
  return found != watched_.end() && found->second.known == parts_of(path);
}

std::vector<FileWatch::Part> FileWatch::parts_of(const fs::path& path) {
  std::vector<Part> parts;
  const auto add = [&parts](const fs::path& file) {
    std::error_code failed;
    const fs::file_time_type written = fs::last_write_time(file, failed);
    if (failed) return;
    const std::uintmax_t size = fs::file_size(file, failed);
    if (!failed) parts.push_back({file, size, written});
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      add(entry.path());
    }
    std::ranges::sort(parts, {}, &Part::file);
  } else if (fs::exists(path, ignored)) {
    for (const fs::path& file : weight_files(path)) add(file);
  }
  return parts;
}

/// Asks the system for notices of `path`, which ends those of a file that was replaced.
void FileWatch::arm(const fs::path& path) {
  const QString file = QString::fromStdString(path.string());
  const QString folder = QString::fromStdString(fs::absolute(path).parent_path().string());
  notices_.removePath(file);
  QStringList wanted;
  std::error_code ignored;
  if (fs::exists(path, ignored)) wanted << file;
  if (!notices_.directories().contains(folder)) wanted << folder;
  if (!wanted.isEmpty()) notices_.addPaths(wanted);
}

void FileWatch::look_soon() {
  if (!soon_.isActive()) soon_.start(kLookAgain);
}

void FileWatch::look() {
  const Clock::time_point now = Clock::now();
  std::vector<fs::path> complete;
  bool waits = false;
  for (auto& [path, watched] : watched_) {
    std::vector<Part> parts = parts_of(path);
    if (parts != watched.last) {
      watched.last = std::move(parts);
      watched.since = now;
      arm(path);
    }
    if (watched.last == watched.known) continue;
    if (now - watched.since < (watched.last.empty() ? kGone : kStill)) {
      waits = true;
      continue;
    }
    watched.known = watched.last;
    complete.push_back(path);
  }
  if (waits) look_soon();
  for (const fs::path& path : complete) {
    const auto found = watched_.find(path);  // a receiver may have forgotten it
    if (found != watched_.end()) emit changed(path, !found->second.known.empty());
  }
}

}  // namespace attnscope
