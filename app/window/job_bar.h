// Background jobs in the status bar: progress, remaining time, and a button to cancel them.
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
  /// `is_stopped`: true if the user cancelled work that can be resumed.
  JobBar(JobQueue& jobs, std::function<bool()> is_stopped, QWidget* parent = nullptr);

 signals:
  void resume_wanted();  ///< the user wants to resume the cancelled work

 private:
  void refresh();

  JobQueue& jobs_;
  QTimer soon_;  ///< delay until the bar appears
  QLabel* text_;
  ProgressLine* progress_;
  QToolButton* cancel_;
  QToolButton* resume_;
  std::function<bool()> is_stopped_;
};

}  // namespace attnscope
