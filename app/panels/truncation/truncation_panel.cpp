#include "app/panels/truncation/truncation_panel.h"

#include <QCheckBox>
#include <QComboBox>
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
#include <algorithm>
#include <utility>
#include <variant>

#include "analysis/sweep/sweep.h"
#include "analysis/truncation/truncation.h"
#include "app/panels/frame/figure_page.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/remaining_time.h"
#include "app/widgets/segment_button.h"

namespace attnscope {

namespace {

constexpr int kWidth = 400;
constexpr int kMostImages = 10'000'000, kUsualImages = 500;
constexpr double kCheckpointSeconds = 1;  // curves grow this often

QLineEdit* named_field(const char* name, const QString& what, const QString& hint) {
  auto* field = new QLineEdit;
  field->setObjectName(name);
  field->setAccessibleName(what);
  field->setToolTip(what);
  field->setPlaceholderText(hint);
  return field;
}

QToolButton* choose_button(const char* name, const QString& what) {
  auto* button = new QToolButton;
  button->setObjectName(name);
  button->setText("…");
  button->setToolTip(what);
  button->setAccessibleName(what);
  return button;
}

bool reads_text(const OpenSubject& open) {
  return open.subject.model && open.subject.model->spec().is_language_model();
}

}  // namespace

TruncationPanel::TruncationPanel(Session& session, QWidget* parent)
    : DockPanel(tr("Cut off the rank"), parent), session_(session) {
  set_preferred_width(kWidth);
  body()->addWidget(make_fields());
  pages_ = new QStackedWidget;
  auto* empty = new QLabel(
      tr("Does the rank matter? Every map of the open models is replaced by its best approximation "
         "of rank 1, 2, 4, … while they run, over a data set with labels, or over the open text: "
         "how often they are still right is drawn against the rank, with the equivalent rank "
         "marked."));
  empty->setWordWrap(true);
  empty->setAlignment(Qt::AlignCenter);
  empty->setProperty("role", "muted");
  pages_->addWidget(empty);
  add_views();
  body()->addWidget(pages_, 1);
  connect(&session_.jobs(), &JobQueue::changed, this, &TruncationPanel::show_progress);
}

void TruncationPanel::add_views() {
  auto* segments = new QWidget;
  segments->setObjectName("truncation_views");
  auto* row = new QHBoxLayout(segments);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(0);
  const struct {
    QString name, tip;
    const char *show, *place;
  } views[] = {{tr("Right"), tr("Accuracy; of texts bits per character"), "answers", "first"},
               {tr("KL"), tr("How far the predictions are from the whole model's, in bits"),
                "divergence", "last"}};
  for (const auto& view : views) {
    auto* page = new FigurePage(view.tip, "rank-accuracy", session_,
                                [this, show = std::string(view.show)] { return request(show); });
    const int index = pages_->addWidget(page);
    QToolButton* const button = segment_button(view.name, view.tip, view.place);
    button->setObjectName("truncation_view_" + QString::number(index));
    button->setChecked(index == 1);
    row->addWidget(button);
    connect(button, &QToolButton::toggled, this, [this, index](bool on) {
      if (on && pages_->currentIndex() > 0) pages_->setCurrentIndex(index);
    });
  }
  add_to_header(segments);
}

QWidget* TruncationPanel::make_fields() {
  data_set_ = named_field("truncation_data_set", tr("Data set; none: the open text"),
                          tr("IDX, HDF5, NPZ, class folders; empty: the open text"));
  result_ = named_field("truncation_result", tr("Result"), tr("R.h5, to keep and resume it"));
  auto* choose_data = choose_button("truncation_browse_data_set", tr("Choose a data set"));
  auto* choose_result = choose_button("truncation_browse_result", tr("Choose where it is kept"));
  count_ = new QSpinBox;
  count_->setObjectName("truncation_count");
  count_->setAccessibleName(tr("Images"));
  count_->setRange(1, kMostImages);
  count_->setValue(kUsualImages);
  count_->setSingleStep(100);
  count_->setSuffix(tr(" inputs"));
  count_->setToolTip(tr("So many, spread evenly over the data set; all if it has no more"));
  cut_ = new QComboBox;
  cut_->setObjectName("truncation_cut");
  cut_->setAccessibleName(tr("What is cut off"));
  cut_->addItems({tr("A_r, then + I"), tr("(A + I)_r"), tr("both")});
  cut_->setToolTip(tr("Of attentions with identity mapping: what the rank is taken of"));
  rows_ = new QCheckBox(tr("Rows to 1"));
  rows_->setObjectName("truncation_rows");
  rows_->setToolTip(tr("Rows of what is left are divided by their sums"));
  button_ = new QPushButton(tr("Cut off"));
  button_->setObjectName("truncation_start");
  progress_ = new QProgressBar;
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress"));
  progress_->hide();
  note_ = new QLabel;
  note_->setObjectName("truncation_note");
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
  grid->addWidget(data_set_, 0, 1);
  grid->addWidget(choose_data, 0, 2);
  grid->addWidget(label(tr("Result")), 1, 0);
  grid->addWidget(result_, 1, 1);
  grid->addWidget(choose_result, 1, 2);
  auto* actions = new QHBoxLayout;
  actions->addWidget(count_);
  actions->addWidget(cut_);
  actions->addWidget(rows_);
  actions->addStretch(1);
  actions->addWidget(button_);
  grid->addLayout(actions, 2, 0, 1, 3);
  grid->addWidget(progress_, 3, 0, 1, 3);
  grid->addWidget(note_, 4, 0, 1, 3);
  grid->setColumnStretch(1, 1);
  connect(choose_data, &QToolButton::clicked, this, &TruncationPanel::browse_data_set);
  connect(choose_result, &QToolButton::clicked, this, &TruncationPanel::browse_result);
  connect(result_, &QLineEdit::editingFinished, this, &TruncationPanel::refresh);
  connect(button_, &QPushButton::clicked, this, &TruncationPanel::start_or_stop);
  return fields;
}

void TruncationPanel::browse_data_set() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("A data set"), QSettings().value("data_set_folder").toString(),
      tr("Data sets (*.gz *.h5 *.hdf5 *.npz *ubyte);;All files (*)"));
  if (file.isEmpty()) return;
  QSettings().setValue("data_set_folder", QFileInfo(file).absolutePath());
  data_set_->setText(file);
}

void TruncationPanel::browse_result() {
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Where it is kept"), result_->text().isEmpty() ? "truncated.h5" : result_->text(),
      tr("Studies (*.h5)"), nullptr, QFileDialog::DontConfirmOverwrite);
  if (file.isEmpty()) return;
  result_->setText(file);
  refresh();
}

void TruncationPanel::start_or_stop() {
  if (job_ != 0) {
    session_.jobs().cancel(job_);
    return;
  }
  start();
}

bool TruncationPanel::take_data(StudyRequest& request) {
  const bool texts = std::ranges::any_of(session_.subjects(), reads_text);
  if (!data_set_->text().isEmpty()) {
    request.data = data_set_->text().toStdString();
    request.choice.count = count_->value();
    return true;
  }
  const auto* const text =
      session_.input() ? std::get_if<Text>(&session_.input()->content) : nullptr;
  if (texts && text) {
    request.text = *text;
    request.data = session_.input_locator();
    return true;
  }
  stopped(texts ? tr("Open a text, or choose a data set.") : tr("Choose a data set with labels."));
  return false;
}

void TruncationPanel::start() {
  StudyRequest wanted;
  wanted.kind = StudyKind::truncation;
  if (!take_data(wanted)) return;
  TruncationRequest truncation;
  truncation.threshold = session_.view().rank_threshold;
  truncation.renormalise = {rows_->isChecked()};
  if (cut_->currentIndex() == 1) truncation.cuts = {TruncatedMap::with_identity};
  if (cut_->currentIndex() == 2) truncation.cuts.push_back(TruncatedMap::with_identity);
  std::vector<Subject> subjects;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.model || reads_text(open) != wanted.text.has_value()) continue;
    subjects.push_back(open.subject);
    subjects.back().trace = nullptr;
  }
  if (subjects.empty()) return stopped(tr("No open model reads this."));
  wanted.description = in_words(truncation);
  wanted.fingerprint = wanted.description;
  wanted.threshold = truncation.threshold;
  wanted.out = out();
  wanted.restart = result_->text().isEmpty();
  wanted.checkpoint_seconds = kCheckpointSeconds;
  button_->setText(tr("Stop"));
  progress_->setValue(0);
  progress_->show();
  note_->setText(tr("Opening the data"));
  note_->show();
  JobQueue& jobs = session_.jobs();
  const QPointer<TruncationPanel> panel(this);
  job_ = jobs.submit(
      tr("Cutting off ranks"),
      [this, wanted, truncation, subjects, panel,
       &jobs](const Progress& progress) mutable -> JobQueue::Delivery {
        for (const Subject& subject : subjects) {
          for (SeriesRequest& series : truncation_series(subject, truncation)) {
            wanted.series.push_back(std::move(series));
          }
        }
        if (!wanted.text) wanted.data_set = open_data_set(wanted.data);
        const StudyResult result = run_study(wanted, progress, [&](const StudyResult&) {
          QMetaObject::invokeMethod(
              &jobs,
              [panel] {
                if (panel) panel->refresh();
              },
              Qt::QueuedConnection);
        });
        const auto done = static_cast<qlonglong>(result.series.empty()
                                                     ? 0
                                                     : result.series.front().correct.size() /
                                                           result.series.front().columns.size());
        return [this, done] { stopped(tr("%1 inputs, complete.").arg(done)); };
      },
      [this](const JobFailure& failure) {
        stopped(failure.cancelled
                    ? (result_->text().isEmpty()
                           ? tr("Stopped. What was done is drawn.")
                           : tr("Stopped; what was done is kept, and Cut off goes on from there."))
                    : "⚠ " + QString::fromStdString(failure.what));
      },
      this);
}

void TruncationPanel::stopped(const QString& note) {
  job_ = 0;
  button_->setText(tr("Cut off"));
  progress_->hide();
  note_->setText(note);
  note_->show();
  refresh();
}

void TruncationPanel::show_progress() {
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

std::filesystem::path TruncationPanel::out() const {
  const std::filesystem::path chosen = result_->text().toStdString();
  return chosen.empty() ? std::filesystem::path(folder_.path().toStdString()) / "truncated.h5"
                        : chosen;
}

std::filesystem::path TruncationPanel::shown_file() const {
  std::error_code ignored;
  std::filesystem::path unfinished = sweep_checkpoint(out());
  if (std::filesystem::exists(unfinished, ignored)) return unfinished;
  return std::filesystem::exists(out(), ignored) ? out() : std::filesystem::path();
}

FigureRequest TruncationPanel::request(const std::string& show) const {
  FigureRequest wanted;
  wanted.settings["file"] = shown_file().string();
  wanted.settings["show"] = std::vector<std::string>{show};
  return wanted;
}

void TruncationPanel::refresh() {
  if (shown_file().empty()) {
    pages_->setCurrentIndex(0);
    return;
  }
  for (int index = 1; index < pages_->count(); ++index) {
    const auto* button =
        header()->findChild<QToolButton*>("truncation_view_" + QString::number(index));
    if (button->isChecked()) pages_->setCurrentIndex(index);
    qobject_cast<FigurePanel*>(pages_->widget(index))->want();
  }
}

bool TruncationPanel::is_behind() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* TruncationPanel::figure() const {
  const auto* page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : nullptr;
}

}  // namespace attnscope
