#include "app/panels/spectrum/spectrum_panel.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <qcustomplot.h>
#include <string>

#include "analysis/figure/recipe.h"
#include "app/panels/segment_button.h"
#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/session/spectrum_store.h"
#include "app/window/theme.h"

namespace attnscope {

namespace {

constexpr const char* kRecipe = "cumulative-spectrum";
// Long enough to take a walk over heads by a held key as one request.
constexpr int kDelayMs = 40;
constexpr double kMmPerPixel = 25.4 / 96;
constexpr double kScreenFontPt = 8;

}  // namespace

SpectrumPanel::SpectrumPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr("Cumulative spectrum"), parent), session_(session), spectra_(spectra) {
  all_maps_ = segment_button(tr("All maps"), tr("The mean over all layers and heads"), "first");
  this_map_ = segment_button(tr("This map"), tr("The selected layer and head alone"), "last");
  all_maps_->setChecked(true);
  auto* segments = new QWidget;
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  row->addWidget(all_maps_);
  row->addWidget(this_map_);
  add_to_header(segments);

  plot_ = new QCustomPlot;
  plot_->setObjectName("spectrum_plot");
  plot_->setAccessibleName(tr("Cumulative singular values of all subjects"));
  plot_->setMinimumHeight(150);
  body()->addWidget(plot_, 1);

  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  connect(&delay_, &QTimer::timeout, this, &SpectrumPanel::make);
  connect(this_map_, &QToolButton::toggled, this, &SpectrumPanel::want);
  connect(&spectra_, &SpectrumStore::spectra_ready, this, &SpectrumPanel::want);
  connect(&session_, &Session::subjects_changed, this, &SpectrumPanel::want);
  connect(&session_, &Session::view_changed, this, &SpectrumPanel::want);
  connect(&session_, &Session::selection_changed, this, [this] {
    if (this_map_->isChecked()) want();
  });
  want();
}

void SpectrumPanel::want() {
  ++wanted_;
  delay_.start();
}

void SpectrumPanel::make() {
  const FigureRecipe& recipe = find_figure(kRecipe);
  FigureRequest request = request_of(session_);
  session_.jobs().cancel(job_);
  job_ = 0;
  const std::int64_t wanted = wanted_;
  if (request.subjects.empty()) {
    figure_ = nullptr;
    shown_ = wanted;
    show_instead(session_.subjects().empty()
                     ? tr("Open a model: how fast the singular values of its maps add up is drawn "
                          "here, and the rank that follows.")
                     : tr("Drawn as soon as a model has run."));
    return;
  }

  const auto set = [&](std::string_view name, const std::string& value) {
    const bool known = std::ranges::any_of(
        recipe.settings, [&](const FigureSetting& setting) { return setting.name == name; });
    if (known) request.settings[std::string(name)] = value;
  };
  set("threshold", std::to_string(session_.view().rank_threshold));
  switch (session_.view().identity) {
    case IdentityView::as_is:
      set("identity", "both");
      break;
    case IdentityView::without:
      set("identity", "without");
      break;
    case IdentityView::with:
      set("identity", "with");
      break;
  }
  if (this_map_->isChecked()) {
    set("layer", std::to_string(session_.selection().layer));
    set("head", std::to_string(session_.selection().head));
  }
  job_ = session_.jobs().submit(
      tr("Drawing the spectrum"),
      [this, request, wanted](const Progress& progress) -> JobQueue::Delivery {
        auto figure = std::make_shared<const Figure>(make_figure(kRecipe, request, progress));
        return [this, figure, wanted] {
          if (wanted != wanted_) return;
          shown_ = wanted;
          figure_ = figure;
          show_instead({});
          draw_figure();
        };
      },
      [this, wanted](const JobFailure& failure) {
        if (wanted != wanted_) return;
        shown_ = wanted;
        if (!failure.cancelled) show_instead("⚠ " + QString::fromStdString(failure.what), true);
      },
      this);
}

void SpectrumPanel::draw_figure() {
  if (!figure_) return;
  Figure on_screen = *figure_;
  on_screen.width_mm = plot_->width() * kMmPerPixel;
  on_screen.height_mm = plot_->height() * kMmPerPixel;
  on_screen.font_family = font().family().toStdString();
  on_screen.font_size_pt = kScreenFontPt;
  draw(on_screen, *plot_,
       colours_of(*this).theme == Theme::dark ? FigureTheme::dark : FigureTheme::light);
  // One ground for the whole window; the figure's own is for paper.
  plot_->setBackground(colours_of(*this).panel);
  for (QCPLegend* legend : plot_->findChildren<QCPLegend*>()) legend->setBrush(Qt::NoBrush);
  plot_->replot();
}

void SpectrumPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  // The plot has its new size only after the layout's turn.
  QTimer::singleShot(0, this, &SpectrumPanel::draw_figure);
}

void SpectrumPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw_figure();
}

}  // namespace attnscope
