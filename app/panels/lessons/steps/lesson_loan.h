// Saves the session's state before a lesson's first step and restores it afterwards.
#pragma once

#include <QObject>
#include <optional>
#include <set>

#include "app/session/session.h"

namespace attnscope {

class LessonLoan : public QObject {
  Q_OBJECT
 public:
  explicit LessonLoan(Session& session, QObject* parent = nullptr);

  /// Saves the current state, unless it is already saved. Called before a lesson changes anything.
  void borrow();
  /// Marks `subject` as opened by the lesson, so that restoring closes it.
  void note_opened(SubjectId subject);
  [[nodiscard]] bool is_on() const { return before_.has_value(); }
  /// Restores the open models, the input, the pinned reference, the selection and, of the view,
  /// what lessons set: threshold, temperature, identity, heads, analysed matrix, printed number and
  /// shown rank. Models that the user opened meanwhile stay. Can be undone.
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
