// The selected map, or another matrix of its head or layer, as a sum of rank-one components: the
// keys that each component reads and the queries that use it, as pictures on the patches or strips
// over the tokens.
#pragma once

#include "app/panels/frame/figure_panel.h"

class QComboBox;
class QSpinBox;

namespace attnscope {

class ComponentsPanel : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Components");

  explicit ComponentsPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] QString empty_text() const override;
  [[nodiscard]] bool follows_room() const override { return true; }

 private:
  QComboBox* show_;
  QSpinBox* count_;
};

}  // namespace attnscope
