#include "app/panels/frame/figure_view.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <qcustomplot.h>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {

namespace {

constexpr int kLeastPlotHeight = 170;  // pixels

}  // namespace

FigureView::FigureView(const QString& name, const QString& until_then, QWidget* parent)
    : QWidget(parent) {
  plot_ = new QCustomPlot;
  plot_->setAccessibleName(name);
  plot_->setMinimumHeight(kLeastPlotHeight);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  until_then_ = new WrappedLabel(until_then);
  until_then_->setAlignment(Qt::AlignCenter);
  set_role(until_then_, "muted");
  column->addWidget(until_then_, 1);
  plot_->hide();  // hidden until there is a figure
  column->addWidget(plot_, 1);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, &FigureView::draw_figure);
}

void FigureView::show_figure(Figure figure) {
  figure_ = std::make_shared<const Figure>(std::move(figure));
  until_then_->hide();
  plot_->show();
  draw_figure();
}

void FigureView::draw_figure() {
  if (figure_ && isVisible()) instrument_->show(figure_, *this);
}

void FigureView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  QMetaObject::invokeMethod(this, &FigureView::draw_figure, Qt::QueuedConnection);
}

void FigureView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw_figure();
}

}  // namespace attnscope
