// What runs in the background for longer than a moment, in the status bar: how far, how long still,
// and a way to stop it.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>

class QLabel;
class QToolButton;

namespace attnscope {

class JobQueue;
class ProgressLine;

class JobBar : public QWidget {
  Q_OBJECT
 public:
  /// `is_stopped`: whether there is work that the user has stopped, and could go on with.
  JobBar(JobQueue& jobs, std::function<bool()> is_stopped, QWidget* parent = nullptr);

 signals:
  void go_on_wanted();  ///< with what was stopped

 private:
  void refresh();

  JobQueue& jobs_;
  QTimer soon_;  ///< until it appears
  QLabel* text_;
  ProgressLine* progress_;
  QToolButton* cancel_;
  QToolButton* go_on_;
  std::function<bool()> is_stopped_;
};

}  // namespace attnscope
