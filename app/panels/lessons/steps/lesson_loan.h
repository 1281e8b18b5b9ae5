// Saves the session's state before a lesson's first step and restores it afterwards.
#pragma once

#include <QObject>
#include <optional>
#include <set>

#include "app/session/session.h"

namespace attnscope {

/// Copies what lessons set of a view: threshold, temperature, identity, heads, analysed matrix,
/// printed number and shown rank.
void copy_lesson_view(const ViewSettings& from, ViewSettings& to);

class LessonLoan : public QObject {
  Q_OBJECT
 public:
  explicit LessonLoan(Session& session, QObject* parent = nullptr);

  /// Saves the current state, unless it is already saved. Called before a lesson changes anything.
  void borrow();
  /// Marks `subject` as opened by the lesson, so that restoring closes it.
  void note_opened(SubjectId subject);
  [[nodiscard]] bool is_on() const { return before_.has_value(); }
  /// Restores the open models, the input, the pinned reference, the selection and what lessons set
  /// of the view (copy_lesson_view). Models that the user opened meanwhile stay. Can be undone.
  void restore();

 signals:
  void changed();  ///< is_on() has changed

 private:
  struct Before {
    SessionState state;
    Selection selection;
  };

  Session& session_;
  std::optional<Before> before_;
  std::set<SubjectId> opened_;
};

}  // namespace attnscope
