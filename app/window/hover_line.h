// The value under the cursor in words: where, from which token to which, how much in each subject.
#pragma once

#include <QLabel>

namespace attnscope {

class Session;

class HoverLine : public QLabel {
  Q_OBJECT
 public:
  explicit HoverLine(Session& session, QWidget* parent = nullptr);

 private:
  void refresh();

  Session& session_;
};

}  // namespace attnscope
