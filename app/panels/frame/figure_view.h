// A figure that its owner computes, with values under the cursor, zoom and copies.
#pragma once

#include <QWidget>
#include <memory>

#include "analysis/figure/figure.h"

class QCustomPlot;
class QLabel;

namespace attnscope {

class PlotInstrument;

/// Redrawn when its size or the theme changes.
class FigureView : public QWidget {
  Q_OBJECT
 public:
  /// `name` is read by screen readers; `until_then` stands where the figure will be.
  explicit FigureView(const QString& name, const QString& until_then = {},
                      QWidget* parent = nullptr);

  void show_figure(Figure figure);
  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void draw_figure();

  QLabel* until_then_;
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  std::shared_ptr<const Figure> figure_;
};

}  // namespace attnscope
