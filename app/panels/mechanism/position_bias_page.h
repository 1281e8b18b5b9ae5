// DAFT's position biases: an atlas of all, those of the query under the cursor, or their numbers.
#pragma once

#include "app/panels/frame/figure_panel.h"

class QToolButton;

namespace attnscope {

class PositionBiasPage : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Biases");

  explicit PositionBiasPage(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] bool follows_room() const override { return true; }
  [[nodiscard]] QString empty_text() const override;
  [[nodiscard]] QString waiting_text() const override { return empty_text(); }

 private:
  [[nodiscard]] std::optional<std::int64_t> shown_query(const FigureRequest& request) const;

  QToolButton* maps_;
  QToolButton* query_;
  QToolButton* numbers_;
};

}  // namespace attnscope
