#include "app/panels/sweep/sweep_panel.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "analysis/sweep/sweep.h"
#include "app/panels/frame/figure_page.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/browse_button.h"
#include "app/widgets/remaining_time.h"
#include "app/widgets/segment_button.h"

namespace attnscope {

namespace {

constexpr int kWidth = 400;
constexpr int kMostInputs = 10'000'000, kUsualInputs = 10'000;
// Curves grow this often.
constexpr double kCheckpointSeconds = 1;

QLineEdit* path_field(const char* name, const QString& what, const QString& hint) {
  auto* field = new QLineEdit;
  field->setObjectName(name);
  field->setAccessibleName(what);
  field->setToolTip(what);
  field->setPlaceholderText(hint);
  return field;
}

QToolButton* browse_button(const char* name, const QString& what) {
  auto* button = new QToolButton;
  button->setObjectName(name);
  button->setText("…");
  button->setToolTip(what);
  button->setAccessibleName(what);
  return button;
}

}  // namespace

SweepPanel::SweepPanel(Session& session, QWidget* parent)
    : DockPanel(tr("Sweep"), parent), session_(session) {
  set_preferred_width(kWidth);
  body()->addWidget(make_fields());
  pages_ = new QStackedWidget;
  auto* empty = new QLabel(
      tr("The open models over a whole data set: mean spectra, and how ranks, hash codes and "
         "importances are distributed. Choose a data set and where the result goes; stopped work "
         "is resumed."));
  empty->setWordWrap(true);
  empty->setAlignment(Qt::AlignCenter);
  empty->setProperty("role", "muted");
  pages_->addWidget(empty);
  auto* segments = new QWidget;
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  const struct {
    QString name, tip;
    const char *recipe, *place;
  } views[] = {
      {tr("Spectrum"), tr("Mean cumulative spectra"), "sweep-spectrum", "first"},
      {tr("Ranks"), tr("Distributions of ranks, layer by layer"), "sweep-ranks", "middle"},
      {tr("Quantities"), tr("Hash codes and importances"), "sweep-quantities", "last"},
  };
  for (const auto& view : views) {
    auto* page = new FigurePage(view.tip, view.recipe, session_, [this] { return request(); });
    const int index = pages_->addWidget(page);
    QToolButton* const button = segment_button(view.name, view.tip, view.place);
    button->setObjectName("sweep_view_" + QString::number(index));
    button->setChecked(index == 1);
    row->addWidget(button);
    connect(button, &QToolButton::toggled, this, [this, index](bool on) {
      if (on && pages_->currentIndex() > 0) pages_->setCurrentIndex(index);
    });
  }
  segments->setObjectName("sweep_views");
  add_to_header(segments);
  body()->addWidget(pages_, 1);
  connect(&session_.jobs(), &JobQueue::changed, this, &SweepPanel::show_progress);
}

QWidget* SweepPanel::make_fields() {
  data_set_ = path_field("sweep_data_set", tr("Data set"),
                         tr("IDX, HDF5, NPZ, or a folder of class folders"));
  result_ = path_field("sweep_result", tr("Result"), tr("R.h5: a new sweep, or one to look at"));
  browse_data_ = new BrowseButton(
      tr("a data set"), tr("Data sets (*.gz *.h5 *.hdf5 *.npz *ubyte);;All files (*)"), data_set_);
  browse_data_->setObjectName("sweep_browse_data_set");
  auto* choose_result = browse_button("sweep_browse_result", tr("Choose where the result goes"));
  count_ = new QSpinBox;
  count_->setObjectName("sweep_count");
  count_->setAccessibleName(tr("Inputs"));
  count_->setRange(1, kMostInputs);
  count_->setValue(kUsualInputs);
  count_->setSingleStep(1000);
  count_->setSuffix(tr(" inputs"));
  count_->setToolTip(tr("So many, spread evenly over the data set; all if it has no more"));
  restart_ = new QCheckBox(tr("Begin anew"));
  restart_->setObjectName("sweep_restart");
  restart_->setToolTip(tr("Forget what was done before, finished or not"));
  button_ = new QPushButton(tr("Sweep"));
  button_->setObjectName("sweep_start");
  progress_ = new QProgressBar;
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of the sweep"));
  progress_->hide();
  note_ = new QLabel;
  note_->setObjectName("sweep_note");
  note_->setWordWrap(true);
  note_->setProperty("role", "muted");
  note_->hide();

  auto* fields = new QWidget;
  auto* grid = new QGridLayout(fields);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  const auto label = [](const QString& text) {
    auto* title = new QLabel(text);
    title->setProperty("role", "muted");
    return title;
  };
  grid->addWidget(label(tr("Data set")), 0, 0);
  grid->addWidget(data_set_, 0, 1, 1, 2);
  grid->addWidget(browse_data_, 0, 3);
  grid->addWidget(label(tr("Result")), 1, 0);
  grid->addWidget(result_, 1, 1, 1, 2);
  grid->addWidget(choose_result, 1, 3);
  auto* actions = new QHBoxLayout;
  actions->addWidget(count_);
  actions->addWidget(restart_);
  actions->addStretch(1);
  actions->addWidget(button_);
  grid->addLayout(actions, 2, 0, 1, 4);
  grid->addWidget(progress_, 3, 0, 1, 4);
  grid->addWidget(note_, 4, 0, 1, 4);
  grid->setColumnStretch(1, 1);
  connect(choose_result, &QToolButton::clicked, this, &SweepPanel::browse_result);
  connect(result_, &QLineEdit::editingFinished, this, &SweepPanel::refresh);
  connect(button_, &QPushButton::clicked, this, &SweepPanel::start_or_stop);
  return fields;
}

void SweepPanel::browse_result() {
  // An existing one is looked at or, once a sweep has ended, replaced: the sweep itself asks
  // nothing.
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Result of the sweep"), result_->text().isEmpty() ? "sweep.h5" : result_->text(),
      tr("Sweeps (*.h5)"), nullptr, QFileDialog::DontConfirmOverwrite);
  if (file.isEmpty()) return;
  result_->setText(file);
  refresh();
}

void SweepPanel::start_or_stop() {
  if (job_ != 0) {
    session_.jobs().cancel(job_);
    return;
  }
  start();
}

void SweepPanel::start() {
  SweepRequest wanted;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.model) continue;
    wanted.subjects.push_back(open.subject);
    wanted.subjects.back().trace = nullptr;
  }
  if (wanted.subjects.empty()) return stopped(tr("Open a model first."));
  if (data_set_->text().isEmpty()) browse_data_->showMenu();
  if (data_set_->text().isEmpty()) return;
  if (result_->text().isEmpty()) browse_result();
  if (result_->text().isEmpty()) return;
  wanted.data_set_path = data_set_->text().toStdString();
  wanted.choice.count = count_->value();
  wanted.out = result_->text().toStdString();
  wanted.restart = restart_->isChecked();
  wanted.checkpoint_seconds = kCheckpointSeconds;
  button_->setText(tr("Stop"));
  progress_->setValue(0);
  progress_->show();
  note_->setProperty("role", "muted");
  note_->setText(tr("Opening the data set"));
  note_->show();
  JobQueue& jobs = session_.jobs();
  const QPointer<SweepPanel> panel(this);
  job_ = jobs.submit(
      tr("Sweeping"),
      [this, wanted, panel, &jobs](const Progress& progress) mutable -> JobQueue::Delivery {
        wanted.data_set = open_data_set(wanted.data_set_path);
        bool anything_done = false;
        const SweepResult result = run_sweep(wanted, progress, [&](const SweepResult&) {
          anything_done = true;
          // By way of the queue, which outlives its jobs; the panel may not.
          QMetaObject::invokeMethod(
              &jobs,
              [panel] {
                if (panel) panel->refresh();
              },
              Qt::QueuedConnection);
        });
        const qlonglong inputs = result.done;
        return [this, inputs, anything_done] {
          restart_->setChecked(false);
          stopped(
              anything_done
                  ? tr("%1 inputs, complete.").arg(inputs)
                  : tr("%1 inputs, complete before. Begin anew sweeps them again.").arg(inputs));
        };
      },
      [this](const JobFailure& failure) {
        stopped(failure.cancelled
                    ? tr("Stopped; what was done is kept, and Sweep goes on from there.")
                    : "⚠ " + QString::fromStdString(failure.what));
      },
      this);
}

void SweepPanel::stopped(const QString& note) {
  job_ = 0;
  button_->setText(tr("Sweep"));
  progress_->hide();
  note_->setText(note);
  note_->show();
  refresh();
}

void SweepPanel::show_progress() {
  if (job_ == 0) return;
  for (const JobStatus& status : session_.jobs().status()) {
    if (status.id != job_) continue;
    progress_->setValue(static_cast<int>(1000 * status.fraction));
    if (status.step.isEmpty()) continue;
    note_->setText(status.step + (status.remaining_seconds
                                      ? " · " + remaining_time(*status.remaining_seconds)
                                      : QString()));
  }
}

std::filesystem::path SweepPanel::shown_file() const {
  const std::filesystem::path out = result_->text().toStdString();
  std::error_code ignored;
  std::filesystem::path unfinished = sweep_checkpoint(out);
  if (!out.empty() && std::filesystem::exists(unfinished, ignored)) return unfinished;
  return !out.empty() && std::filesystem::exists(out, ignored) ? out : std::filesystem::path();
}

FigureRequest SweepPanel::request() const {
  FigureRequest wanted;
  wanted.settings["file"] = shown_file().string();
  return wanted;
}

void SweepPanel::refresh() {
  if (shown_file().empty()) {
    pages_->setCurrentIndex(0);
    return;
  }
  for (int index = 1; index < pages_->count(); ++index) {
    const auto* button = header()->findChild<QToolButton*>("sweep_view_" + QString::number(index));
    if (button->isChecked()) pages_->setCurrentIndex(index);
    qobject_cast<FigurePanel*>(pages_->widget(index))->want();
  }
}

bool SweepPanel::is_behind() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* SweepPanel::figure() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : nullptr;
}

}  // namespace attnscope
