// Undo and redo of session changes: open subjects, mechanisms, input and view.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <vector>

#include "app/session/session.h"

namespace attnscope {

/// Lives next to its session, on the window's thread. Selections are not recorded. Consecutive
/// changes of only the view or of one subject's maps, as by a slider, are one step.
class History : public QObject {
  Q_OBJECT
 public:
  explicit History(Session& session, QObject* parent = nullptr);

  [[nodiscard]] bool can_undo() const { return !undone_.empty(); }
  [[nodiscard]] bool can_redo() const { return !redone_.empty(); }
  /// The change that undo reverts: "open fashion-adder"; empty if there is none.
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
  std::vector<SessionState> undone_, redone_;  // the nearest state is last
  QElapsedTimer since_view_change_;
  bool moving_ = false;  // true while undo or redo changes the session
};

}  // namespace attnscope
