// Offers sessions left by crashed windows one after another. Each is deleted only if the user
// discards it, or after it was opened and saved here.
#pragma once

#include <QObject>
#include <deque>
#include <filesystem>
#include <functional>
#include <vector>

namespace attnscope {

class Autosave;
class NoticeBar;

class Recovery : public QObject {
  Q_OBJECT
 public:
  /// `left`: the files, newest first. `open` opens one in place of the present session; false if it
  /// cannot be read, which it has then reported.
  Recovery(const std::vector<std::filesystem::path>& left, Autosave& autosave, NoticeBar& notice,
           std::function<bool(const std::filesystem::path&)> open);

 private:
  void offer_next();
  void open_next();
  void discard_next();

  std::deque<std::filesystem::path> left_;
  Autosave& autosave_;
  NoticeBar& notice_;
  std::function<bool(const std::filesystem::path&)> open_;
  bool shows_recovered_ = false;  // the open session is a recovered one
};

}  // namespace attnscope
