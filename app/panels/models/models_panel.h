// List of the open models, one card each, with buttons to open more.
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

  /// `recent_files` opens from the button next to Open.
  ModelsPanel(Session& session, QMenu& recent_files, QWidget* parent = nullptr);

  /// Empty, because the session itself keeps the open models.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  void refresh();
  void lay_over(SubjectId subject);
  [[nodiscard]] bool is_describable(SubjectId subject);
  /// Opens the role editor for a model that the user just opened and whose architecture is unknown.
  void describe_what_failed();

  Session& session_;
  QVBoxLayout* cards_row_;
  std::vector<SubjectCard*> cards_;
  std::vector<SubjectId> ids_;
  /// True if the role editor can describe a failed model; by model and error message.
  std::map<std::pair<SubjectId, std::string>, bool> describable_;
  std::set<SubjectId> restored_;  ///< restored from a session file: not described unasked
  QPushButton* open_;
  QPushButton* recent_;
};

}  // namespace attnscope
