// How much each token of a text counts: α as heat over the text itself, for every subject, and the
// tokens that count most.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/importance/importance.h"
#include "app/panels/frame/dock_panel.h"

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
  explicit ImportancePanel(Session& session, QWidget* parent = nullptr);

 private:
  /// One attention of one subject, as it is shown.
  struct Shown {
    std::int64_t subject = 0;
    std::shared_ptr<const Trace> trace;
    TokenImportance importance;
    QString title;
  };
  struct View {
    ElidedLabel* title;
    TextHeat* heat;
  };

  void refresh();
  /// A new text is looked at from its end.
  void follow_text();
  [[nodiscard]] std::vector<Shown> shown() const;
  void show_controls(const Trace& trace);
  void show_table(const std::vector<Shown>& all);
  void choose_token(std::int64_t subject, std::int64_t token);
  void hover(std::optional<std::int64_t> token);

  Session& session_;
  QComboBox* layer_;
  QComboBox* head_;
  NumberSlider* end_;
  QWidget* views_;
  std::vector<View> shown_views_;
  std::vector<std::int64_t> view_subjects_;
  ScaleBar* scale_;
  QTableWidget* table_;
  std::vector<std::string> followed_;  // the text that was last looked at from its end
  bool mean_over_heads_ = false;
};

}  // namespace attnscope
