#include "app/panels/frame/study_panel.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "analysis/sweep/sweep.h"
#include "app/panels/frame/figure_page.h"
#include "app/session/hand_over.h"
#include "app/session/session.h"
#include "app/widgets/browse_button.h"
#include "app/widgets/progress_line.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {

namespace {

constexpr int kStudyWidth = 400;
constexpr int kMostInputs = 10'000'000;

QLabel* muted_label(const QString& text) {
  auto* label = new QLabel(text);
  label->setProperty("role", "muted");
  return label;
}

}  // namespace

StudyPanel::StudyPanel(Session& session, const Form& form, const std::vector<View>& views,
                       QWidget* parent)
    : DockPanel(form.title, parent), session_(session), form_(form) {
  set_preferred_width(kStudyWidth);
  make_fields();
  pages_ = new QStackedWidget;
  auto* const about = new WrappedLabel(form.about);
  about->setProperty("role", "muted");
  about->setAlignment(Qt::AlignCenter);
  pages_->addWidget(about);
  add_views(views);
  body()->addWidget(pages_, 1);
  connect(&session_.jobs(), &JobQueue::changed, this, &StudyPanel::show_progress);
}

void StudyPanel::make_fields() {
  data_ = line_field(form_.name + "_data_set", tr("Data set"), form_.data_hint);
  data_->setText(form_.data);
  result_ = line_field(form_.name + "_result", tr("Result"), form_.result_hint);
  browse_data_ = new BrowseButton(
      tr("a data set"), tr("Data sets (*.gz *.h5 *.hdf5 *.npz *ubyte);;All files (*)"), data_);
  browse_data_->setObjectName(form_.name + "_browse_data_set");
  auto* const browse =
      tool_button(form_.name + "_browse_result", "…", tr("Choose the result's file"));
  count_ = new QSpinBox;
  count_->setObjectName(form_.name + "_count");
  count_->setAccessibleName(tr("Inputs"));
  count_->setRange(1, kMostInputs);
  count_->setValue(form_.count);
  count_->setSingleStep(form_.count_step);
  count_->setSuffix(tr(" inputs"));
  count_->setToolTip(tr("Number of inputs, spread evenly over the data set; all if it has fewer"));
  start_over_ = new QCheckBox(tr("Start over"));
  start_over_->setObjectName(form_.name + "_restart");
  start_over_->setToolTip(tr("Discard the earlier result"));
  button_ = new QPushButton(form_.verb);
  button_->setObjectName(form_.name + "_start");
  progress_ = new ProgressLine(tr("Progress"));
  progress_->hide();
  note_ = new WrappedLabel;
  note_->setProperty("role", "muted");
  note_->setObjectName(form_.name + "_note");
  note_->hide();

  options_ = new QHBoxLayout;
  auto* const actions = new QHBoxLayout;
  actions->addWidget(count_);
  actions->addWidget(start_over_);
  actions->addStretch(1);
  actions->addWidget(button_);
  auto* const fields = new QWidget;
  auto* const grid = new QGridLayout(fields);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  grid->addWidget(muted_label(tr("Data set")), 0, 0);
  grid->addWidget(data_, 0, 1);
  grid->addWidget(browse_data_, 0, 2);
  grid->addWidget(muted_label(tr("Result")), 1, 0);
  grid->addWidget(result_, 1, 1);
  grid->addWidget(browse, 1, 2);
  grid->addLayout(options_, 2, 0, 1, 3);
  grid->addLayout(actions, 3, 0, 1, 3);
  grid->addWidget(progress_, 4, 0, 1, 3);
  grid->addWidget(note_, 5, 0, 1, 3);
  grid->setColumnStretch(1, 1);
  body()->addWidget(fields);
  connect(browse, &QToolButton::clicked, this, &StudyPanel::browse_result);
  connect(result_, &QLineEdit::editingFinished, this, &StudyPanel::refresh);
  connect(button_, &QPushButton::clicked, this, &StudyPanel::start_or_stop);
}

void StudyPanel::add_option(QWidget* option) { options_->addWidget(option); }

void StudyPanel::add_views(const std::vector<View>& views) {
  auto* const segments = new Segments;
  segments->setObjectName(form_.name + "_views");
  for (const View& view : views) {
    const auto request = [this, settings = view.settings] {
      FigureRequest wanted;
      wanted.settings = settings;
      wanted.settings["file"] = shown_file().string();
      return wanted;
    };
    const int index = pages_->addWidget(new FigurePage(view.tip, view.recipe, session_, request));
    const char* const place = &view == &views.front()  ? "first"
                              : &view == &views.back() ? "last"
                                                       : "middle";
    QToolButton* const button =
        segment_button(form_.name + "_view_" + QString::number(index), view.name, view.tip, place);
    button->setChecked(index == 1);
    segments->add(button);
    connect(button, &QToolButton::toggled, this, [this, index](bool on) {
      if (on && pages_->currentIndex() > 0) pages_->setCurrentIndex(index);
    });
  }
  add_to_header(segments);
}

void StudyPanel::browse_result() {
  // Choosing an existing file asks nothing: it is shown, resumed or, if it is complete, only
  // restarted on the user's request.
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save result"), result_->text().isEmpty() ? form_.file_name : result_->text(),
      tr("Results (*.h5)"), nullptr, QFileDialog::DontConfirmOverwrite);
  if (file.isEmpty()) return;
  result_->setText(file);
  refresh();
}

bool StudyPanel::ask_for_data() {
  if (data_->text().isEmpty()) browse_data_->showMenu();
  return !data_->text().isEmpty();
}

void StudyPanel::start_or_stop() {
  if (job_ != 0) {
    session_.jobs().cancel(job_);
    return;
  }
  start();
}

void StudyPanel::start() {
  const std::optional<Work> work = this->work();
  if (!work) return;
  button_->setText(tr("Stop"));
  progress_->set_fraction(0);
  progress_->show();
  show_note(tr("Opening the data"));
  JobQueue& jobs = session_.jobs();
  const auto grown = [&jobs, panel = QPointer<StudyPanel>(this)] {
    // Called through the queue, which outlives its jobs; the panel may not.
    queue_call(&jobs, [panel] {
      if (panel) panel->refresh();
    });
  };
  job_ = jobs.submit(
      form_.doing,
      [this, work = *work, grown](const Progress& progress) -> JobQueue::Delivery {
        return [this, note = work(progress, grown)] {
          start_over_->setChecked(false);
          ended(note);
        };
      },
      [this](const JobFailure& failure) {
        if (!failure.cancelled) return ended("⚠ " + QString::fromStdString(failure.what));
        ended(chosen_result().empty()
                  ? tr("Cancelled. The results so far are drawn.")
                  : tr("Cancelled; the results are kept, and %1 resumes from there.")
                        .arg(form_.verb));
      },
      this, JobQueue::AtEnd::wait);
}

void StudyPanel::ended(const QString& note) {
  job_ = 0;
  button_->setText(form_.verb);
  progress_->hide();
  show_note(note);
  refresh();
}

void StudyPanel::show_note(const QString& note) {
  note_->setText(note);
  note_->show();
}

void StudyPanel::show_progress() {
  if (job_ == 0) return;
  for (const JobStatus& status : session_.jobs().status()) {
    if (status.id != job_) continue;
    progress_->set_fraction(status.fraction);
    if (status.step.isEmpty()) continue;
    note_->setText(status.step + (status.remaining_seconds
                                      ? " · " + remaining_time(*status.remaining_seconds)
                                      : QString()));
  }
}

std::filesystem::path StudyPanel::chosen_data() const { return data_->text().toStdString(); }

std::filesystem::path StudyPanel::chosen_result() const { return result_->text().toStdString(); }

std::int64_t StudyPanel::chosen_count() const { return count_->value(); }

bool StudyPanel::starts_over() const { return start_over_->isChecked(); }

std::filesystem::path StudyPanel::shown_file() const {
  const std::filesystem::path file = out();
  if (file.empty()) return {};
  std::error_code ignored;
  std::filesystem::path unfinished = sweep_checkpoint(file);
  if (std::filesystem::exists(unfinished, ignored)) return unfinished;
  return std::filesystem::exists(file, ignored) ? file : std::filesystem::path();
}

void StudyPanel::refresh() {
  if (shown_file().empty()) {
    pages_->setCurrentIndex(0);
    return;
  }
  for (int index = 1; index < pages_->count(); ++index) {
    const auto* const button =
        header()->findChild<QToolButton*>(form_.name + "_view_" + QString::number(index));
    if (button->isChecked()) pages_->setCurrentIndex(index);
    qobject_cast<FigurePanel*>(pages_->widget(index))->want();
  }
}

bool StudyPanel::is_behind() const {
  const auto* const page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* StudyPanel::figure() const {
  const auto* const page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : nullptr;
}

}  // namespace attnscope
