// What runs in the background, in the status bar: how far, how long still, and a way to stop it.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QToolButton;

namespace attnscope {

class JobQueue;

class JobBar : public QWidget {
  Q_OBJECT
 public:
  explicit JobBar(JobQueue& jobs, QWidget* parent = nullptr);

 private:
  void refresh();

  JobQueue& jobs_;
  QLabel* text_;
  QProgressBar* progress_;
  QToolButton* cancel_;
};

}  // namespace attnscope
