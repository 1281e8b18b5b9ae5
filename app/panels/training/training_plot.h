// Plot of the trainings so far, one curve per training over its steps, redrawn as they grow.
#pragma once

#include <QWidget>
#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/training/run/training_log.h"

class QCustomPlot;
class QLabel;

namespace attnscope {

class PlotInstrument;

struct TrainingCurve {
  std::string name;
  std::size_t place = 0;  ///< index of its model, which gives colour and marker
  std::shared_ptr<const TrainingLog> log;

  bool operator==(const TrainingCurve&) const = default;  ///< compares logs by pointer
};

enum class TrainingView {
  loss,      ///< batch loss, mean over 20 steps; markers: loss on the test examples
  accuracy,  ///< accuracy in %, like loss
  rank,      ///< equivalent rank of A without I for the probes: layer mean, layers thin
  entropy    ///< entropy of a query's weights in nats for the probes, like rank
};

[[nodiscard]] Figure training_figure(const std::vector<TrainingCurve>& curves, TrainingView view);

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
