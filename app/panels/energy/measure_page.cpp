#include "app/panels/energy/measure_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/progress_line.h"
#include "app/widgets/table_view.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* kRecipe = "mechanism-costs";

bool same(const MeasurementOptions& a, const MeasurementOptions& b) {
  return a.mechanisms == b.mechanisms && a.tokens == b.tokens && a.width == b.width &&
         a.heads == b.heads;
}

}  // namespace

MeasurePage::MeasurePage(Session& session, std::function<FigureRequest()> wanted, QWidget* parent)
    : QWidget(parent), session_(session), wanted_(std::move(wanted)) {
  button_ = new QPushButton(tr("Measure here"));
  button_->setObjectName("measure_kernels");
  button_->setToolTip(tr("Run every mechanism the program has on this machine, now"));
  progress_ = new ProgressLine(tr("Progress of measuring"));
  progress_->hide();
  note_ = new WrappedLabel;
  note_->setObjectName("measure_note");
  note_->setProperty("role", "muted");
  table_ = new TableView;
  table_->setObjectName("mechanism-costs_table");
  table_->setAccessibleName(tr("Costs of mechanisms, counted and measured"));

  auto* row = new QHBoxLayout;
  row->setSpacing(10);
  row->addWidget(button_);
  row->addWidget(progress_, 1);
  row->addStretch(0);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addWidget(table_, 1);
  column->addLayout(row);
  column->addWidget(note_);
  connect(button_, &QPushButton::clicked, this, &MeasurePage::measure_or_cancel);
  connect(&session_.jobs(), &JobQueue::changed, this, &MeasurePage::show_progress);
}

MechanismCostsRequest MeasurePage::request(FigureRequest& complete) const {
  complete = wanted_();
  FigureRequest filled = complete;
  filled.settings = complete_settings(kRecipe, complete.settings);
  return mechanism_costs_request(filled);
}

void MeasurePage::refresh() {
  if (!isVisible()) return;
  try {
    FigureRequest complete;
    show_figure(request(complete));
    auto figure = std::make_shared<Figure>(*figure_);
    figure->name = kRecipe;
    figure->command = figure_command(kRecipe, complete);
    figure_ = std::move(figure);
  } catch (const Error& error) {
    note_->setText("⚠ " + QString::fromStdString(error.in_window()));
  }
}

void MeasurePage::show_figure(const MechanismCostsRequest& request) {
  const bool is_measured = measured_ && same(measured_->options, request.measured);
  const Measurement& shown = is_measured ? *measured_ : Measurement{};
  constexpr double kColumnsMm = 174;
  figure_ = std::make_shared<const Figure>(mechanism_costs_figure(request, shown, kColumnsMm));
  table_->set_table(*figure_->table);
  const QString where = tr("N = %1, D = %2, H = %3")
                            .arg(request.measured.tokens.back())
                            .arg(request.measured.width)
                            .arg(request.measured.heads);
  if (!is_measured) {
    note_->setText(
        measured_
            ? tr("%1: not measured yet; the last measurement was of something else.").arg(where)
            : tr("%1: time and memory are measured when you ask.").arg(where));
    return;
  }
  QStringList problems;
  for (const MeasuredKernel& kernel : shown.kernels) {
    if (kernel.problem.empty()) continue;
    problems << QString::fromStdString(kernel.mechanism.name + ": " + kernel.problem);
  }
  note_->setText(
      tr("%1, attention core only, fastest run; %2, %n thread(s).", nullptr, shown.threads)
          .arg(where, shown.processor.empty() ? tr("this machine")
                                              : QString::fromStdString(shown.processor)) +
      (problems.isEmpty() ? QString() : "\n⚠ " + problems.join("\n⚠ ")));
}

void MeasurePage::measure_or_cancel() {
  if (job_ != 0) {
    session_.jobs().cancel(job_);
    return;
  }
  MeasurementOptions options;
  try {
    FigureRequest complete;
    options = request(complete).measured;
  } catch (const Error& error) {
    note_->setText("⚠ " + QString::fromStdString(error.in_window()));
    return;
  }
  const auto done = [this] {
    job_ = 0;
    button_->setText(tr("Measure again"));
    progress_->hide();
  };
  button_->setText(tr("Cancel"));
  progress_->set_fraction(0);
  progress_->show();
  job_ = session_.jobs().submit(
      tr("Measuring kernels"),
      [this, options, done](const Progress& progress) -> JobQueue::Delivery {
        auto measured = std::make_shared<const Measurement>(measure_kernels(options, progress));
        return [this, measured, done] {
          done();
          measured_ = measured;
          refresh();
        };
      },
      [this, done](const JobFailure& failure) {
        done();
        refresh();
        note_->setText(failure.cancelled ? tr("Cancelled; nothing was kept.")
                                         : "⚠ " + QString::fromStdString(failure.what));
      },
      this);
}

void MeasurePage::show_progress() {
  if (job_ == 0) return;
  for (const JobStatus& status : session_.jobs().status()) {
    if (status.id != job_) continue;
    progress_->set_fraction(status.fraction);
    note_->setText(status.step + (status.remaining_seconds
                                      ? " · " + remaining_time(*status.remaining_seconds)
                                      : QString()));
  }
}

void MeasurePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (job_ == 0) refresh();
}

}  // namespace attnscope
