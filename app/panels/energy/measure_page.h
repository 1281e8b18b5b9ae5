// Table of counted mechanism costs next to times measured on this machine on request.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>

#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/mechanism_costs.h"

class QLabel;
class QPushButton;

namespace attnscope {

class ProgressLine;
class Session;
class TableView;

class MeasurePage : public QWidget {
  Q_OBJECT
 public:
  /// `wanted` returns the request to show; it may throw Error(usage).
  MeasurePage(Session& session, std::function<FigureRequest()> wanted, QWidget* parent = nullptr);

  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

  /// Shows the counted costs, and measurements that were made with the same options.
  void refresh();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void measure_or_cancel();
  void show_progress();
  void show_figure(const MechanismCostsRequest& request);
  [[nodiscard]] MechanismCostsRequest request(FigureRequest& complete) const;

  Session& session_;
  std::function<FigureRequest()> wanted_;
  QPushButton* button_;
  ProgressLine* progress_;
  QLabel* note_;
  TableView* table_;
  std::shared_ptr<const Measurement> measured_;
  std::shared_ptr<const Figure> figure_;
  std::int64_t job_ = 0;
};

}  // namespace attnscope
