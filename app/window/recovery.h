// What ended windows have left behind, offered one after the other. Nothing of it is deleted unless
// the user says so, or it is open here and saved anew.
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
  /// `left`: the files, the latest first. `open` opens one in place of what is open; false if it
  /// cannot be read, and then it has said so.
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
  bool shows_recovered_ = false;  // what is open here was one of them
};

}  // namespace attnscope
