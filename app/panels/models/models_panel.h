// What is open: one card a subject, and how to open more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QMenu;
class QPushButton;
class QVBoxLayout;

namespace attnscope {

class Session;
class SubjectCard;

class ModelsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Models");

  /// `recent_files` opens from the button beside Open.
  ModelsPanel(Session& session, QMenu& recent_files, QWidget* parent = nullptr);

  /// None: what is open, the session itself knows.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  void refresh();
  void lay_over(SubjectId subject);
  [[nodiscard]] bool is_describable(SubjectId subject);
  /// What the user has just opened, and no known model is, is described at once.
  void describe_what_failed();

  Session& session_;
  QVBoxLayout* cards_row_;
  std::vector<SubjectCard*> cards_;
  std::vector<SubjectId> ids_;
  /// Of subjects that failed, with what was said: whether they can be described.
  std::map<std::pair<SubjectId, std::string>, bool> describable_;
  std::set<SubjectId> restored_;  ///< from a session's file: not described unasked
  QPushButton* open_;
  QPushButton* recent_;
};

}  // namespace attnscope
