#include "app/panels/training/training_plot.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <qcustomplot.h>
#include <utility>

#include "app/look/role.h"
#include "app/panels/frame/plot_instrument.h"

namespace attnscope {

namespace {

constexpr int kLeastPlotHeight = 170;  // pixels

}  // namespace

TrainingPlot::TrainingPlot(QWidget* parent) : QWidget(parent) {
  plot_ = new QCustomPlot;
  plot_->setObjectName("training_plot");
  plot_->setAccessibleName(tr("Trainings over their steps"));
  plot_->setMinimumHeight(kLeastPlotHeight);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  until_then_ =
      new QLabel(tr("Losses, accuracies and ranks appear here once a training has begun."));
  until_then_->setAlignment(Qt::AlignCenter);
  until_then_->setWordWrap(true);
  set_role(until_then_, "muted");
  column->addWidget(until_then_, 1);
  plot_->hide();  // hidden until there are curves
  column->addWidget(plot_, 1);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, &TrainingPlot::draw_figure);
}

void TrainingPlot::show_figure(Figure figure) {
  figure_ = std::make_shared<const Figure>(std::move(figure));
  until_then_->hide();
  plot_->show();
  draw_figure();
}

void TrainingPlot::draw_figure() {
  if (figure_ && isVisible()) instrument_->show(figure_, *this);
}

void TrainingPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  QMetaObject::invokeMethod(this, &TrainingPlot::draw_figure, Qt::QueuedConnection);
}

void TrainingPlot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw_figure();
}

}  // namespace attnscope
