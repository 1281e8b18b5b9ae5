// Card of one model in the list: facts, progress and errors.
#pragma once

#include <QElapsedTimer>
#include <QFrame>
#include <optional>

#include "app/session/job_queue.h"
#include "app/session/session.h"

class QLabel;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace attnscope {

class ElidedButton;
class ElidedLabel;
class ProgressLine;
class SubjectBadge;

class SubjectCard : public QFrame {
  Q_OBJECT
 public:
  explicit SubjectCard(QWidget* parent = nullptr);

  /// Shows `subject`, at `index` in the list; `job` is the status of its running job, if any.
  void show_subject(const OpenSubject& subject, std::int64_t index, bool selected,
                    const std::optional<JobStatus>& job, bool has_input);
  /// Shows whether the model can be pinned as reference, and whether it is.
  void show_pin(bool can_be_pinned, bool pinned);
  /// Shows the button that opens the role editor, for files with an unknown architecture.
  void show_describable(bool describable);

 signals:
  void rename_wanted();
  void chosen();
  void options_wanted();
  void overlay_wanted();
  void retry_wanted();
  void describe_wanted();
  void close_wanted();
  void pin_wanted();                                         ///< emitted to pin and to unpin
  void channel_chosen(std::optional<std::int64_t> channel);  ///< empty: the mean over channels

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void tint_icons();
  void show_status(const ModelStatus& status);

  SubjectBadge* badge_;
  ElidedLabel* name_;
  QLabel* facts_;
  QLabel* state_;
  QLabel* file_;  ///< change of the file since it was opened
  ProgressLine* progress_;
  QWidget* channel_row_;
  QSpinBox* channel_;
  ElidedButton* assumptions_;
  QPushButton* retry_;
  QPushButton* describe_;
  QToolButton* pin_;
  QToolButton* options_;
  QToolButton* overlay_;
  QToolButton* close_;
  QElapsedTimer running_again_;  ///< invalid unless the model runs and has maps
};

/// The known facts of a model in one line, such as "adder + I · 6 × 3 heads · 197 tokens".
[[nodiscard]] QString subject_facts(const Subject& subject);

}  // namespace attnscope
