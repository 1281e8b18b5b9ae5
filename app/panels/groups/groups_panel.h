// Groups of the tokens of the selected model, painted on the text or the picture, and figures of
// the attention between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"
#include "core/attention/token_groups.h"
#include "core/trace/trace.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace attnscope {

class FigurePage;
class GridPainter;
class Session;
class TextHeat;

class GroupsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Groups of tokens");

  explicit GroupsPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  [[nodiscard]] bool is_stopped() const override;
  void resume() override;
  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  void add_figures();
  void add_painters();
  void add_names();
  [[nodiscard]] FigureRequest request() const;
  [[nodiscard]] std::string recipe() const;
  /// The trace of the selected model, or of the first with maps; null if there is none.
  [[nodiscard]] std::shared_ptr<const Trace> trace() const;
  [[nodiscard]] std::vector<std::int64_t> selected_tokens() const;
  /// The groups of the field; empty if it is not understood.
  [[nodiscard]] TokenGroups groups() const;
  void refresh();
  void show_groups(const TokenGroups& groups);
  void show_selection();
  void choose_figure();
  /// Makes the selected tokens a group of the name in the field; they leave other groups.
  void add_group();

  Session& session_;
  QToolButton* over_depth_;
  QToolButton* as_maps_;
  QToolButton* receivers_;
  QComboBox* written_;
  QComboBox* from_;
  QCheckBox* stacked_;
  TextHeat* text_;
  GridPainter* grid_;
  QWidget* naming_;
  QLineEdit* name_;
  QPushButton* add_;
  QLabel* selected_;
  FigurePage* page_;
};

}  // namespace attnscope
