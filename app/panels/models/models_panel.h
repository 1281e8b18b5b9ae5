// What is open: one card a subject, and how to open more.
#pragma once

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
  /// `recent_files` opens from the button beside Open.
  ModelsPanel(Session& session, QMenu& recent_files, QWidget* parent = nullptr);

  /// None: what is open, the session itself knows.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  void refresh();
  void edit_options(SubjectId subject);
  void lay_over(SubjectId subject);

  Session& session_;
  QVBoxLayout* cards_row_;
  std::vector<SubjectCard*> cards_;
  std::vector<SubjectId> ids_;
  QPushButton* open_;
  QPushButton* recent_;
};

}  // namespace attnscope
