#include "app/panels/frame/figure_panel.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <qcustomplot.h>
#include <utility>

#include "app/panels/frame/plot_instrument.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "core/error.h"

namespace attnscope {

namespace {

// A delay that merges the selections of a held arrow key into one request.
constexpr int kDelayMs = 40;
constexpr int kLeastHeight = 150;  // pixels

/// Minimum height at which rows of maps can be told apart; in less space the panel scrolls.
int least_height(const Figure& figure) {
  constexpr int kRow = 32, kTitles = 24;  // pixels, including the space between rows
  int rows = 0;
  for (const Panel& panel : figure.panels) {
    if (panel.square_cells) rows = std::max(rows, static_cast<int>(panel.row) + 1);
  }
  return std::max(kLeastHeight, rows * kRow + kTitles);
}

}  // namespace

FigurePanel::FigurePanel(const QString& title, std::string recipe, Session& session,
                         QWidget* parent)
    : DockPanel(title, parent), recipe_(std::move(recipe)), session_(session) {
  plot_ = new QCustomPlot;
  plot_->setObjectName(QString::fromStdString(recipe_) + "_plot");
  plot_->setAccessibleName(title);
  plot_->setMinimumHeight(kLeastHeight);
  body()->addWidget(plot_, 1);
  instrument_ = new PlotInstrument(*plot_);
  connect(instrument_, &PlotInstrument::axes_wanted, this, &FigurePanel::draw_figure);
  connect(instrument_, &PlotInstrument::export_wanted, this, &FigurePanel::want_export);
  connect(instrument_, &PlotInstrument::rename_wanted, this, &FigurePanel::rename_wanted);
  connect(instrument_, &PlotInstrument::picked, this, &FigurePanel::pick);

  delay_.setSingleShot(true);
  // A panel that is covered by now makes its figure when it is seen again.
  connect(&delay_, &QTimer::timeout, this, [this] {
    if (is_seen()) make();
  });
  connect(&session_, &Session::subjects_changed, this, &FigurePanel::want);
  connect(&session_, &Session::view_changed, this, &FigurePanel::want);
}

FigureRequest FigurePanel::request() const { return request_of(session_); }

QString FigurePanel::waiting_text() const {
  const bool any_has_run = std::ranges::any_of(
      session_.subjects(), [](const OpenSubject& open) { return open.subject.trace != nullptr; });
  return any_has_run ? tr("Computing…") : tr("Choose an input.");
}

void FigurePanel::want() {
  ++wanted_;
  if (!is_seen() || delay_.isActive()) return;
  if (figure_) {
    // The timer is not restarted, so that the figure follows a slider while it is dragged.
    delay_.start(kDelayMs);
  } else {
    make();  // the first at once: the window's first picture has it
  }
}

void FigurePanel::make() {
  if (figure_ && awaits_more()) return;
  session_.jobs().cancel(job_);
  job_ = 0;
  const std::int64_t wanted = wanted_;
  stopped_ = false;
  FigureRequest request;
  Finishing finish;
  try {
    request = this->request();
    finish = finishing();
    request.first_layer = session_.view().first_layer;
    if (follows_room()) request.width_mm = made_for_mm_ = room_mm();
  } catch (const Error& error) {
    shown_ = wanted;
    return fail(QString::fromStdString(error.what()));
  }
  if (request.subjects.empty() && find_figure(recipe_).needs.least > 0) {
    figure_ = nullptr;
    shown_ = wanted;
    show_instead(session_.subjects().empty() ? empty_text() : waiting_text());
    return;
  }
  job_ = session_.jobs().submit(
      tr("Drawing: %1").arg(title()),
      [this, recipe = recipe_, request, wanted,
       finish](const Progress& progress) -> JobQueue::Delivery {
        Figure made = make_figure(recipe, request, progress);
        if (finish) finish(made, progress);
        auto figure = std::make_shared<const Figure>(std::move(made));
        return [this, figure, wanted, settings = request.settings] {
          if (wanted < shown_) return;
          shown_ = wanted;
          figure_ = figure;
          made_with_ = settings;
          show_instead({});
          plot_->setMinimumHeight(least_height(*figure));
          draw_figure();
          emit drawn();
        };
      },
      [this, wanted](const JobFailure& failure) {
        if (wanted != wanted_) return;  // cancelled for a newer one
        shown_ = wanted;
        if (!failure.cancelled) return fail(QString::fromStdString(failure.what));
        stopped_ = true;
        show_stopped();
      },
      this);
}

void FigurePanel::resume() {
  if (stopped_) want();
}

void FigurePanel::want_export() {
  if (figure_) emit export_wanted(recipe_, made_with_);
}

/// Selects the map of a point that belongs to one layer or head.
void FigurePanel::pick(const PlotPoint& point) {
  const std::string layer = key_of(point, "layer"), head = key_of(point, "head");
  if (layer.empty()) return;
  bool is_layer = false;
  const qlonglong number = QString::fromStdString(layer).toLongLong(&is_layer);
  if (!is_layer) return;
  const Selection& selection = session_.selection();
  SubjectId subject = selection.subject;
  for (const OpenSubject& open : session_.subjects()) {
    if (open.subject.label == key_of(point, "model")) subject = open.id;
  }
  session_.select_map(subject, number - session_.view().first_layer,
                      head.empty() ? selection.head : QString::fromStdString(head).toLongLong());
}

double FigurePanel::room_mm() const {
  constexpr double kStepMm = 10;
  return std::max(FigureRequest{}.width_mm,
                  std::floor(plot_->width() * mm_per_pixel / kStepMm) * kStepMm);
}

void FigurePanel::fail(const QString& what) { show_instead("⚠ " + what, true); }

void FigurePanel::draw_figure() {
  if (figure_) instrument_->show(figure_, *this);
}

void FigurePanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  come_to_front();
}

void FigurePanel::come_to_front() {
  if (!is_of_look_) draw_figure();
  is_of_look_ = true;
  if (wanted_ != shown_) delay_.start(kDelayMs);
}

void FigurePanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  // The plot gets its new size only after the layout has run.
  QTimer::singleShot(0, this, [this] {
    draw_figure();
    if (follows_room() && room_mm() != made_for_mm_) want();
  });
}

void FigurePanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    is_of_look_ = is_seen();  // unseen figures are drawn when they are seen
    if (is_of_look_) draw_figure();
  }
}

}  // namespace attnscope
