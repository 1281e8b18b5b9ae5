#include "app/panels/training/training_plot.h"

#include <QEvent>
#include <QVBoxLayout>
#include <qcustomplot.h>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/render/render.h"

namespace attnscope {

namespace {

constexpr double kMmPerPlotPixel = 25.4 / 96;
constexpr double kShareOfLetters = 0.84;  // of the window's letters
constexpr int kLeastPlotHeight = 170;     // pixels

}  // namespace

TrainingPlot::TrainingPlot(QWidget* parent) : QWidget(parent) {
  plot_ = new QCustomPlot;
  plot_->setObjectName("training_plot");
  plot_->setAccessibleName(tr("Trainings over their steps"));
  plot_->setMinimumHeight(kLeastPlotHeight);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(plot_);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, &TrainingPlot::draw_figure);
}

void TrainingPlot::show_figure(Figure figure) {
  figure_ = std::make_shared<const Figure>(std::move(figure));
  draw_figure();
}

void TrainingPlot::draw_figure() {
  if (!figure_ || !isVisible()) return;
  Figure on_screen = instrument_->with_axes(*figure_);
  on_screen.width_mm = plot_->width() * kMmPerPlotPixel;
  on_screen.height_mm = plot_->height() * kMmPerPlotPixel;
  on_screen.font_family = font().family().toStdString();
  on_screen.font_size_pt = kShareOfLetters * font().pointSizeF();
  draw(on_screen, *plot_,
       colours_of(*this).theme == Theme::dark ? FigureTheme::dark : FigureTheme::light);
  instrument_->take(on_screen, figure_);
  plot_->setBackground(colours_of(*this).panel);
  for (QCPLegend* legend : plot_->findChildren<QCPLegend*>()) legend->setBrush(Qt::NoBrush);
  plot_->replot();
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
