// What a lesson sets, it gives back: how things stood before its first step.
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

  /// Before a lesson changes anything: remembers how things stand, unless it has done so.
  void borrow();
  /// The lesson has opened `subject`: it goes when the rest comes back.
  void note_opened(SubjectId subject);
  [[nodiscard]] bool is_on() const { return before_.has_value(); }
  /// What was open, the input, the pinned reference, the selection; and of the view what lessons
  /// set: threshold, temperature, identity, heads. What the user has opened meanwhile stays. Undo
  /// takes it back.
  void give_back();

 signals:
  void changed();  ///< is_on() is another

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
