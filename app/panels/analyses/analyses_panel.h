// Every figure that has no panel of its own, in a list by the question that it answers, with its
// settings as controls.
#pragma once

#include <map>
#include <set>
#include <string>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

class QCheckBox;
class QComboBox;
class QScrollArea;
class QToolButton;

namespace attnscope {

class AnalysisPage;
class FigureSettingsForm;
class Session;

class AnalysesPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Analyses");

  explicit AnalysesPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// Chooses an analysis by the name of its recipe, as the user does in the list; false if there is
  /// no such analysis.
  bool show_page(const std::string& page) override;
  /// The name of the chosen recipe.
  [[nodiscard]] std::string recipe() const;
  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_controls();
  void list_analyses();
  void mark_possible();
  void take_recipe();
  void take_setting(const std::string& name);
  void follow_selection();
  /// The chosen figure of the open models that it can show.
  [[nodiscard]] FigureRequest request() const;
  /// Reason why the chosen figure cannot be drawn; empty if it can.
  [[nodiscard]] QString reason(const FigureRequest& request) const;

  Session& session_;
  QComboBox* list_;
  QToolButton* unfold_;
  QCheckBox* follow_;
  FigureSettingsForm* form_;
  QScrollArea* fields_;  ///< has the form
  AnalysisPage* page_;
  QToolButton* export_;
  bool chosen_ = false;           ///< by the user; else the first that the open models allow
  bool opened_ = false;           ///< the settings were opened to ask for a file
  std::set<std::string> edited_;  ///< settings that the user changed, which follow nothing
  std::string shown_recipe_;      ///< recipe of the controls
  std::map<std::string, ParameterValues> kept_;  ///< recipe → its settings when it was left
};

}  // namespace attnscope
