// Saves the session to disk while the program runs, for recovery after a crash.
#pragma once

#include <QLockFile>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace attnscope {

class Session;

/// Saves the session into `folder` a few seconds after each change, panel settings included, and
/// removes the file on destruction. A file found there later was left by a crash.
class Autosave : public QObject {
  Q_OBJECT
 public:
  Autosave(Session& session, std::filesystem::path folder, QObject* parent = nullptr);
  ~Autosave() override;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Saves now if anything is open and differs from the last save. Fails silently; the next call
  /// retries.
  void save();
  /// Saves the open session to a file that stays, as after a crash, to be found by left_behind.
  /// Returns the file, or an empty path if nothing is open or the file cannot be written.
  std::filesystem::path leave_behind();

  /// Files in `folder` left by programs that no longer run, newest first.
  [[nodiscard]] static std::vector<std::filesystem::path> left_behind(
      const std::filesystem::path& folder);
  /// Deletes a file that was left behind, and its lock.
  static void discard(const std::filesystem::path& file);

 private:
  Session& session_;
  std::filesystem::path file_;
  std::unique_ptr<QLockFile> lock_;  // held during the lifetime of this object
  QTimer clock_;
  std::string saved_;  // content of the file
  int left_ = 0;       // number of files left behind
};

}  // namespace attnscope
