// The session on disk while the program runs, for when it ends as nobody wished.
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

/// Saves the session into `folder` a few seconds after each change, of panels' settings too, and
/// removes it when it is destroyed: what is found there later was left behind by a crash.
class Autosave : public QObject {
  Q_OBJECT
 public:
  Autosave(Session& session, std::filesystem::path folder, QObject* parent = nullptr);
  ~Autosave() override;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// At once, if anything is open and it is not what was saved last. A failure is silent: the next
  /// time tries again.
  void save();
  /// Saves what is open now and leaves the file behind, as a crash would, for left_behind to find
  /// it. Nothing if nothing is open. Returns it, or an empty path.
  std::filesystem::path leave_behind();

  /// What programs that no longer run have left in `folder`, the latest first.
  [[nodiscard]] static std::vector<std::filesystem::path> left_behind(
      const std::filesystem::path& folder);
  /// Forgets one of them.
  static void discard(const std::filesystem::path& file);

 private:
  Session& session_;
  std::filesystem::path file_;
  std::unique_ptr<QLockFile> lock_;  // held as long as the program lives
  QTimer clock_;
  std::string saved_;  // what the file says
  int left_ = 0;       // how many were left behind
};

}  // namespace attnscope
