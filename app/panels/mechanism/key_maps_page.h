// DAFT's keys as feature maps over the image.
#pragma once

#include "app/panels/frame/figure_panel.h"

namespace attnscope {

class KeyMapsPage : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Keys as pictures");

  explicit KeyMapsPage(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] bool follows_room() const override { return true; }
  [[nodiscard]] QString empty_text() const override;
  [[nodiscard]] QString waiting_text() const override { return empty_text(); }
};

}  // namespace attnscope
