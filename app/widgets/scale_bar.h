// A colour scale as a horizontal bar with end values and label.
#pragma once

#include <QWidget>

#include "analysis/figure/figure.h"

namespace attnscope {

class ScaleBar : public QWidget {
  Q_OBJECT
 public:
  explicit ScaleBar(QWidget* parent = nullptr);
  void set_scale(const ColourScale& scale);
  [[nodiscard]] QSize sizeHint() const override { return {160, 26}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  ColourScale scale_;
};

}  // namespace attnscope
