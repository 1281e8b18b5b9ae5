// Plot of the training curves, redrawn as they grow.
#pragma once

#include <QWidget>
#include <memory>

#include "analysis/figure/figure.h"

class QCustomPlot;
class QLabel;

namespace attnscope {

class PlotInstrument;

class TrainingPlot : public QWidget {
  Q_OBJECT
 public:
  explicit TrainingPlot(QWidget* parent = nullptr);

  void show_figure(Figure figure);
  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void draw_figure();

  QLabel* until_then_;  ///< text in the plot's place
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  std::shared_ptr<const Figure> figure_;
};

}  // namespace attnscope
