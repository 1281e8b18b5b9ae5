// Importance α of each token of a text for one model: a heat map over the text for each of its
// attentions, and a table of the most important tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/importance/importance.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QCheckBox;
class QTableWidget;

namespace attnscope {

class ElidedLabel;
class NumberSlider;
class ScaleBar;
class Session;
class TextHeat;
struct OpenSubject;

class ImportancePage : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Importance");

  explicit ImportancePage(Session& session, QWidget* parent = nullptr);

  /// Only keeps whether heads are averaged; the end of the text belongs to the selection.
  [[nodiscard]] ControlValues settings() const override;
  void restore_settings(const ControlValues& settings) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct View {
    ElidedLabel* title;
    TextHeat* heat;
  };

  void refresh();
  /// The selected model, or the first with importances of its own; null if there is none.
  [[nodiscard]] const OpenSubject* shown() const;
  [[nodiscard]] std::vector<TokenImportance> importances(const OpenSubject& open) const;
  void show_end(const Trace& trace, std::int64_t end);
  void show_views(const Trace& trace, const std::vector<TokenImportance>& all);
  void show_table(const Trace& trace, const TokenImportance& importance);
  void choose_token(std::int64_t token);
  void hover(std::optional<std::int64_t> token);

  Session& session_;
  QCheckBox* mean_;
  NumberSlider* end_;
  QWidget* views_;
  std::vector<View> shown_views_;
  ScaleBar* scale_;
  QTableWidget* table_;
  SubjectId subject_ = SubjectId::none;
};

}  // namespace attnscope
