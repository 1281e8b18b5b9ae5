// The open models: one card each, with buttons to open more, or the structure of the selected one.
#pragma once

#include <QTimer>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QMenu;
class QPushButton;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace attnscope {

class Session;
class StructurePage;
class SubjectCard;

class ModelsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Models");

  /// `recent_files` opens from the button next to Open.
  ModelsPanel(Session& session, QMenu& recent_files, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// "structure": the structure of the selected model; "models": the cards.
  bool show_page(const std::string& page) override;
  /// Empty, because the session itself keeps the open models.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  [[nodiscard]] QWidget* make_list(QMenu& recent_files);
  void refresh();
  void lay_over(SubjectId subject);
  [[nodiscard]] bool is_describable(SubjectId subject);
  /// Opens the role editor for a model that the user just opened and whose architecture is unknown.
  void describe_what_failed();

  Session& session_;
  QToolButton* as_structure_;
  QStackedWidget* pages_;
  StructurePage* structure_;
  QVBoxLayout* cards_row_;
  std::vector<SubjectCard*> cards_;
  std::vector<SubjectId> ids_;
  /// True if the role editor can describe a failed model; by model and error message.
  std::map<std::pair<SubjectId, std::string>, bool> describable_;
  std::set<SubjectId> restored_;  ///< restored from a session file: not described unasked
  QPushButton* open_;
  QPushButton* recent_;
  QTimer progress_;
};

}  // namespace attnscope
