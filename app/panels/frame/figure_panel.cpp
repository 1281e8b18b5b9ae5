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
constexpr int kLeastHeight = 100;  // pixels

bool same_subject(const Subject& one, const Subject& other) {
  return one.trace == other.trace && one.model == other.model && one.label == other.label &&
         one.mechanism == other.mechanism;
}

/// True if both ask for the same figure of a recipe.
bool same_request(const FigureRequest& one, const FigureRequest& other) {
  return one.settings == other.settings && one.width_mm == other.width_mm &&
         one.first_layer == other.first_layer &&
         std::ranges::equal(one.subjects, other.subjects, same_subject);
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
  connect(instrument_, &PlotInstrument::hovered, this, &FigurePanel::hover);

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

QString FigurePanel::text_instead(const FigureRequest& request) const {
  if (!request.subjects.empty() || find_figure(recipe_).needs.least == 0) return {};
  return session_.subjects().empty() ? empty_text() : waiting_text();
}

/// The height at which rows of maps can be told apart.
int FigurePanel::least_height(const Figure& figure) const {
  constexpr int kRow = 32, kTitles = 24;  // pixels, including the space between rows
  int rows = 0;
  for (const attnscope::Panel& panel : figure.panels) {  // not QFrame::Panel
    if (panel.square_cells) rows = std::max(rows, static_cast<int>(panel.row) + 1);
  }
  return std::max(kLeastHeight, rows * kRow + kTitles);
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
  QString instead;
  try {
    request = this->request();
    finish = finishing();
    request.first_layer = session_.view().first_layer;
    if (follows_room()) request.width_mm = made_for_mm_ = room_mm();
    instead = text_instead(request);
  } catch (const Error& error) {
    shown_ = wanted;
    return fail(QString::fromStdString(error.in_window()));
  }
  if (!instead.isEmpty()) {
    figure_ = nullptr;
    shown_ = wanted;
    return show_instead(instead);
  }
  if (figure_ && is_costly() && figure_->name == recipe_ && same_request(request, made_for_)) {
    shown_ = wanted;
    return show_instead({});
  }
  job_ = session_.jobs().submit(
      tr("Drawing: %1").arg(title()),
      [this, recipe = recipe_, request, wanted,
       finish](const Progress& progress) -> JobQueue::Delivery {
        Figure made = make_figure(recipe, request, progress);
        if (finish) finish(made, progress);
        auto figure = std::make_shared<const Figure>(std::move(made));
        return [this, figure, wanted, request] {
          if (wanted < shown_) return;
          shown_ = wanted;
          figure_ = figure;
          made_for_ = request;
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
  if (!figure_) return;
  std::vector<std::size_t> subjects;
  const FigureRequest open = request_of(session_);
  for (const Subject& subject : made_for_.subjects) {
    const auto found = std::ranges::find(open.subjects, subject.trace, &Subject::trace);
    if (found == open.subjects.end()) continue;
    subjects.push_back(static_cast<std::size_t>(found - open.subjects.begin()));
  }
  emit export_wanted(figure_->name, made_for_.settings, subjects);
}

/// The cell that a point's keys name; what they do not name is as selected.
HoveredCell FigurePanel::cell_of(const PlotPoint& point) const {
  const Selection& selection = session_.selection();
  const auto number = [&](const char* name, std::int64_t otherwise) {
    bool is_number = false;
    const qlonglong found = QString::fromStdString(key_of(point, name)).toLongLong(&is_number);
    return is_number ? static_cast<std::int64_t>(found) : otherwise;
  };
  const std::int64_t first_layer = session_.view().first_layer;
  HoveredCell cell{selection.subject, number("layer", selection.layer + first_layer) - first_layer,
                   number("head", selection.head), number("query", selection.query), 0};
  cell.key = number("key", cell.query);
  for (const OpenSubject& open : session_.subjects()) {
    if (open.subject.label == key_of(point, "model")) cell.subject = open.id;
  }
  return cell;
}

/// Selects the map, and the query, of a point that belongs to one layer or head.
void FigurePanel::pick(const PlotPoint& point) {
  bool is_layer = false;
  (void)QString::fromStdString(key_of(point, "layer")).toLongLong(&is_layer);
  if (!is_layer) return;
  const HoveredCell cell = cell_of(point);
  session_.select_map(cell.subject, cell.layer, cell.head);
  if (key_of(point, "query").empty()) return;
  Selection selection = session_.selection();
  selection.query = cell.query;
  session_.select(selection);
}

/// Shows in all views the token whose query a point belongs to, until the cursor leaves it.
void FigurePanel::hover(const std::optional<PlotPoint>& point) {
  const bool hovers = point && !key_of(*point, "query").empty();
  if (!hovers && !hovers_) return;
  hovers_ = hovers;
  Selection selection = session_.selection();
  selection.hover.reset();
  if (hovers) selection.hover = cell_of(*point);
  session_.select(selection);
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
