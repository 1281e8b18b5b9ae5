// Importance α of each token of a text: a heat map over the text for every model, and a table of
// the most important tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/importance/importance.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QComboBox;
class QTableWidget;

namespace attnscope {

class ElidedLabel;
class NumberSlider;
class ScaleBar;
class Session;
class TextHeat;

class ImportancePanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Token importance");

  explicit ImportancePanel(Session& session, QWidget* parent = nullptr);

  /// Only keeps whether heads are averaged; layer, head and the end of the text belong to the
  /// session's selection.
  [[nodiscard]] ControlValues settings() const override;
  void restore_settings(const ControlValues& settings) override;

 private:
  /// One attention of one model, as shown.
  struct Shown {
    SubjectId subject = SubjectId::none;
    std::shared_ptr<const Trace> trace;
    TokenImportance importance;
    QString title;
  };
  struct View {
    ElidedLabel* title;
    TextHeat* heat;
  };

  void refresh();
  [[nodiscard]] std::vector<Shown> shown() const;
  /// The first attention of the selected model, or the first of all.
  [[nodiscard]] const Shown& chosen(const std::vector<Shown>& all) const;
  void show_controls(const Shown& shown);
  void show_table(const Shown& one);
  void choose_token(SubjectId subject, std::int64_t token);
  void hover(SubjectId subject, std::optional<std::int64_t> token);

  Session& session_;
  QComboBox* layer_;
  QComboBox* head_;
  NumberSlider* end_;
  QWidget* views_;
  std::vector<View> shown_views_;
  std::vector<SubjectId> view_subjects_;  // one per view
  ScaleBar* scale_;
  QTableWidget* table_;
  SubjectId chosen_ = SubjectId::none;  // the model of table and controls
  bool mean_over_heads_ = false;
};

}  // namespace attnscope
