#include "app/session/autosave.h"

#include <QCoreApplication>
#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "app/session/session.h"
#include "core/error.h"
#include "core/file/atomic_file.h"

namespace attnscope {

namespace {

constexpr int kEveryMs = 2000;
constexpr const char* kPrefix = "autosave-";

namespace fs = std::filesystem;

fs::path lock_of(const fs::path& file) { return fs::path(file).replace_extension(".lock"); }

}  // namespace

Autosave::Autosave(Session& session, fs::path folder, QObject* parent)
    : QObject(parent), session_(session) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  file_ = folder / (kPrefix + std::to_string(QCoreApplication::applicationPid()) + ".json");
  lock_ = std::make_unique<QLockFile>(QString::fromStdString(lock_of(file_).string()));
  lock_->setStaleLockTime(0);
  lock_->tryLock(0);
  // The session is polled, because changes of panel controls send no signal to it.
  clock_.setInterval(kEveryMs);
  connect(&clock_, &QTimer::timeout, this, &Autosave::save);
  clock_.start();
}

Autosave::~Autosave() {
  std::error_code ignored;
  fs::remove(file_, ignored);
}

void Autosave::save() {
  if (session_.subjects().empty()) return;
  try {
    std::string text = session_.text(fs::absolute(file_).parent_path());
    if (text == saved_) return;
    write_file(file_, text);
    saved_ = std::move(text);
  } catch (const Error&) {
    // Autosaving fails silently: the user did not request it, and nothing is lost.
  }
}

fs::path Autosave::leave_behind() {
  if (session_.subjects().empty()) return {};
  const std::string name = file_.stem().string() + "-" + std::to_string(++left_) + ".json";
  fs::path file = file_.parent_path() / name;
  try {
    session_.save(file);
  } catch (const Error&) {
    return {};
  }
  return file;
}

std::vector<fs::path> Autosave::left_behind(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".json" || !file.filename().string().starts_with(kPrefix)) continue;
    QLockFile lock(QString::fromStdString(lock_of(file).string()));
    lock.setStaleLockTime(0);
    if (lock.tryLock(0)) files.push_back(file);  // no running program holds the lock
  }
  std::ranges::sort(files, std::ranges::greater{},
                    [&](const fs::path& file) { return fs::last_write_time(file, ignored); });
  return files;
}

void Autosave::discard(const fs::path& file) {
  std::error_code ignored;
  fs::remove(file, ignored);
  fs::remove(lock_of(file), ignored);
}

}  // namespace attnscope
