// Parts of the status bar: the value under the cursor, and background jobs.
#pragma once

#include <QStatusBar>
#include <QTimer>
#include <QWidget>
#include <functional>

#include "app/widgets/elided_label.h"

class QToolButton;

namespace attnscope {

class AtlasLink;
class JobQueue;
class ProgressLine;
class Session;
struct HoveredCell;
struct OpenSubject;

/// A status bar as high as a line of text: without the space above and below its widgets.
class LowStatusBar : public QStatusBar {
  Q_OBJECT
 public:
  using QStatusBar::QStatusBar;

 protected:
  bool event(QEvent* event) override;
};

/// The value under the cursor in words: layer, head, query and key, and the value in each subject.
class HoverLine : public ElidedLabel {
  Q_OBJECT
 public:
  HoverLine(Session& session, AtlasLink& link, QWidget* parent = nullptr);

 private:
  void refresh();
  [[nodiscard]] QString value_in(const OpenSubject& open, const HoveredCell& hover) const;

  Session& session_;
  AtlasLink& link_;
};

/// Background jobs: progress, remaining time, and a button to cancel them.
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
  QTimer soon_;  ///< active from a change of the jobs until it is shown
  ElidedLabel* text_;
  ProgressLine* progress_;
  QToolButton* cancel_;
  QToolButton* resume_;
  std::function<bool()> is_stopped_;
};

}  // namespace attnscope
