// Undo and redo of what changes the session: what is open, over what, on what input, seen how.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <vector>

#include "app/session/session.h"

namespace attnscope {

/// Lives beside its session, on the window's thread. Selections are no changes; a run of changes of
/// the view alone, or of one subject's maps, as by a slider, is one.
class History : public QObject {
  Q_OBJECT
 public:
  explicit History(Session& session, QObject* parent = nullptr);

  [[nodiscard]] bool can_undo() const { return !undone_.empty(); }
  [[nodiscard]] bool can_redo() const { return !redone_.empty(); }
  /// What undo would take back: "open fashion-adder"; empty if nothing.
  [[nodiscard]] QString undo_text() const;
  [[nodiscard]] QString redo_text() const;
  void undo();
  void redo();

 signals:
  void changed();

 private:
  void note();
  void go_to(std::vector<SessionState>& from, std::vector<SessionState>& to);
  [[nodiscard]] SessionState at_this_step(SessionState state) const;

  Session& session_;
  SessionState current_;
  std::vector<SessionState> undone_, redone_;  // the nearest last
  QElapsedTimer since_view_change_;
  bool moving_ = false;  // the session follows us, not the user
};

/// Whether undo would see no difference: traces and the states of jobs do not count.
[[nodiscard]] bool same_setup(const SessionState& a, const SessionState& b);

/// What turned `before` into `after`: "close fashion-adder", "another input".
[[nodiscard]] QString describe_change(const SessionState& before, const SessionState& after);

}  // namespace attnscope
