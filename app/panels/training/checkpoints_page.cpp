#include "app/panels/training/checkpoints_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMainWindow>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/training/run_folder.h"
#include "app/look/theme.h"
#include "app/panels/frame/figure_view.h"
#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/session/training_steps.h"
#include "app/widgets/file_to_save.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

constexpr int kStepMs = 350;             // least duration of a step
constexpr double kBesideMarkers = 0.02;  // padding of an axis, share of its extent

}  // namespace

CheckpointsPage::CheckpointsPage(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent),
      session_(session),
      training_(new TrainingSteps(session, this)) {
  body()->addWidget(make_controls());
  note_ = new WrappedLabel;
  note_->setObjectName("over_training_note");
  body()->addWidget(note_);
  ranks_ = new FigureView(tr("Trainings over their steps"));
  ranks_->setObjectName("over_training_ranks");
  ranks_->hide();
  body()->addWidget(ranks_, 1);
  body()->addStretch(0);
  clock_.setInterval(kStepMs);
  connect(&clock_, &QTimer::timeout, this, &CheckpointsPage::play_on);
  connect(training_, &TrainingSteps::changed, this, &CheckpointsPage::show_state);
  connect(training_, &TrainingSteps::changed, this, &CheckpointsPage::compute_ranks);
  connect(&session_, &Session::view_changed, this, &CheckpointsPage::show_ranks);
  show_state();
}

QWidget* CheckpointsPage::make_controls() {
  auto* controls = new QWidget;
  auto* column = new QVBoxLayout(controls);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* choose = new QPushButton(tr("Open a folder of checkpoints…"));
  choose->setObjectName("over_training_open");
  choose->setToolTip(
      tr("A run of attnscope train, Lightning's checkpoints, Hugging Face's checkpoint-500 …, "
         "Pythia's step1000 …; a second folder is shown next to the first, at the same step. New "
         "checkpoints are added as a training writes them"));
  slider_ = new QSlider(Qt::Horizontal);
  slider_->setObjectName("over_training_slider");
  slider_->setToolTip(tr("The step whose weights are shown"));
  slider_->setPageStep(1);
  slider_->setTickPosition(QSlider::TicksBelow);
  back_ = tool_button("over_training_back", "◀", tr("One step back ( , )"));
  play_ = tool_button("over_training_play", "▶▶", tr("Play, or stop ( Shift+Space )"));
  forth_ = tool_button("over_training_forth", "▶", tr("One step on ( . )"));
  pictures_ = tool_button("over_training_pictures", tr("Pictures…"),
                          tr("Writes the maps of every step as step-000128.png …"));
  film_ = tool_button("over_training_film", tr("Film…"),
                      tr("Writes the maps of every step as one animated PNG"));
  strip_ = tool_button("over_training_strip", tr("Strip…"),
                       tr("Writes the selected map of every step side by side, as a figure"));
  play_->setCheckable(true);
  step_ = new QLabel;
  step_->setObjectName("over_training_step");
  step_->setProperty("role", "heading");
  column->addWidget(choose);
  column->addWidget(slider_);
  auto* row = new QHBoxLayout;
  for (QToolButton* button : {back_, play_, forth_}) row->addWidget(button);
  row->addSpacing(8);
  row->addWidget(step_, 1);
  column->addLayout(row);
  auto* kept = new QHBoxLayout;
  for (QToolButton* button : {pictures_, film_, strip_}) kept->addWidget(button);
  kept->addStretch(1);
  column->addLayout(kept);
  connect(choose, &QPushButton::clicked, this, &CheckpointsPage::choose_folder);
  connect(slider_, &QSlider::valueChanged, this,
          [this](int place) { training_->go_to(static_cast<std::size_t>(place)); });
  connect(back_, &QToolButton::clicked, this, [this] { move(-1); });
  connect(forth_, &QToolButton::clicked, this, [this] { move(1); });
  connect(pictures_, &QToolButton::clicked, this, &CheckpointsPage::choose_pictures);
  connect(strip_, &QToolButton::clicked, this, &CheckpointsPage::choose_strip);
  connect(film_, &QToolButton::clicked, this, &CheckpointsPage::choose_film);
  connect(play_, &QToolButton::toggled, this, &CheckpointsPage::play);
  const auto shortcut = [this](const char* key, auto act) {
    auto* one = new QShortcut(QKeySequence(QString(key)), this);
    one->setContext(Qt::WindowShortcut);
    connect(one, &QShortcut::activated, this, act);
  };
  shortcut(",", [this] { move(-1); });
  shortcut(".", [this] { move(1); });
  shortcut("Shift+Space", [this] { play_->toggle(); });
  return controls;
}

void CheckpointsPage::choose_folder() {
  const QString folder = QFileDialog::getExistingDirectory(
      this, tr("A folder of checkpoints"), QSettings().value("training_folder").toString());
  if (folder.isEmpty()) return;
  QSettings().setValue("training_folder", folder);
  open_folder(folder.toStdString());
}

void CheckpointsPage::open_folder(const std::filesystem::path& folder) {
  try {
    training_->open(folder);
  } catch (const Error& error) {
    show_note("⚠ " + QString::fromStdString(error.in_window()), true);
  }
}

bool CheckpointsPage::open_document(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) return false;
  open_folder(file);
  return true;
}

void CheckpointsPage::move(int by) {
  slider_->setValue(std::clamp(slider_->value() + by, slider_->minimum(), slider_->maximum()));
}

/// Starts or stops playing; restarts from the first step if the last one is shown.
void CheckpointsPage::play(bool on) {
  seen_ = false;
  if (!on) {
    pictures_in_.clear();
    film_file_.clear();
    film_frames_.clear();
    return clock_.stop();
  }
  if (slider_->value() == slider_->maximum()) slider_->setValue(0);
  clock_.start();
}

void CheckpointsPage::choose_pictures() {
  const QString folder = QFileDialog::getExistingDirectory(
      this, tr("Folder of the pictures"), QSettings().value("pictures_folder").toString());
  if (folder.isEmpty()) return;
  QSettings().setValue("pictures_folder", folder);
  write_pictures(folder.toStdString());
}

void CheckpointsPage::write_pictures(const std::filesystem::path& folder) {
  play_from_the_first();
  pictures_in_ = folder;
}

void CheckpointsPage::play_from_the_first() {
  play_->setChecked(false);
  slider_->setValue(0);
  play_->setChecked(true);
}

void CheckpointsPage::choose_film() {
  const QString file =
      file_to_save(this, tr("Save film"), QSettings().value("film_file", "film.png").toString(),
                   tr("Animated PNG (*.png)"), ".png");
  if (file.isEmpty()) return;
  try {
    refuse_to_overwrite_read(file.toStdString());
  } catch (const Error& error) {
    return show_note("⚠ " + QString::fromStdString(error.in_window()), true);
  }
  QSettings().setValue("film_file", file);
  write_film(file.toStdString());
}

void CheckpointsPage::write_film(const std::filesystem::path& file) {
  play_from_the_first();
  film_file_ = file;
}

void CheckpointsPage::add_to_film() {
  const auto* const main = qobject_cast<const QMainWindow*>(window());
  if (main == nullptr || main->centralWidget() == nullptr) return;
  film_frames_.push_back(main->centralWidget()->grab().toImage());
}

void CheckpointsPage::finish_film() {
  try {
    write_file(film_file_, film_of(film_frames_, kStepMs));
    show_note(tr("Film of %1 steps: %2")
                  .arg(film_frames_.size())
                  .arg(QString::fromStdString(film_file_.string())),
              false);
  } catch (const Error& error) {
    show_note("⚠ " + QString::fromStdString(error.in_window()), true);
  }
}

void CheckpointsPage::choose_strip() {
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save figure"), QSettings().value("strip_file", "strip.pdf").toString(),
      tr("Figures (*.pdf *.svg *.png)"));
  if (file.isEmpty()) return;
  QSettings().setValue("strip_file", file);
  write_strip(file.toStdString());
}

void CheckpointsPage::write_strip(const std::filesystem::path& file) {
  const std::shared_ptr<const Input> input = session_.input();
  const Selection selection = session_.selection();
  const std::vector<SeriesModel> models = training_->series().at(0).models;
  const auto sent = training_->series().at(0).sent;
  if (!input && sent.empty()) return show_note(tr("⚠ Choose an input first."), true);
  const auto draw = [models, sent, input, selection](const Progress& progress) {
    FigureRequest request;
    request.settings =
        parse_settings("attention-maps", {{"layers", std::to_string(selection.layer)},
                                          {"heads", std::to_string(selection.head)},
                                          {"columns", "subjects"}});
    const auto share = [&](std::size_t done) {
      return static_cast<double>(done) / static_cast<double>(models.size());
    };
    for (std::size_t i = 0; i < models.size(); ++i) {
      const std::string label = "step " + std::to_string(models[i].step);
      if (const auto maps = sent.find(models[i].step); maps != sent.end()) {
        request.subjects.push_back(
            {label, nullptr, maps->second->mechanism, nullptr, maps->second});
        continue;
      }
      const Progress part = progress.part(share(i), share(i + 1));
      const auto model = load_model(models[i].file, {}, part.silent());
      const MechanismChoice& mechanism = model->spec().mechanism;
      auto trace = std::make_shared<const Trace>(model->run(*input, mechanism, {}, part));
      request.subjects.push_back({label, model, mechanism, input, std::move(trace)});
    }
    return std::make_shared<const Figure>(
        make_figure("attention-maps", request, progress.silent()));
  };
  session_.jobs().submit(
      tr("A map of every step"),
      [this, draw, file](const Progress& progress) -> JobQueue::Delivery {
        const auto figure = draw(progress);
        return [this, figure, file] {
          try {
            export_figure(*figure, file);
            show_note(tr("Written: %1").arg(QString::fromStdString(file.string())), false);
          } catch (const Error& error) {
            show_note("⚠ " + QString::fromStdString(error.in_window()), true);
          }
        };
      },
      [this](const JobFailure& failure) {
        if (!failure.cancelled) show_note("⚠ " + QString::fromStdString(failure.what), true);
      },
      this);
}

void CheckpointsPage::compute_ranks() {
  std::erase_if(sent_, [this](const auto& known) {
    return std::ranges::find(training_->series(), known.first.first,
                             &TrainingSteps::Series::name) == training_->series().end();
  });
  if (rank_job_ != 0) return;
  for (const TrainingSteps::Series& one : training_->series()) {
    for (const auto& [step, trace] : one.sent) {
      SentSpectra& known = sent_[{one.name, step}];
      if (known.trace == trace) continue;
      known = {trace, {}};
      rank_job_ = session_.jobs().submit(
          tr("Ranks of step %1").arg(step),
          [this, trace = trace,
           key = std::pair(one.name, step)](const Progress& progress) -> JobQueue::Delivery {
            auto spectra = std::make_shared<std::vector<MapSpectrum>>(
                spectra_of(*trace, IdentityView::as_is, {}, progress));
            return [this, trace, key, spectra] {
              rank_job_ = 0;
              const auto found = sent_.find(key);
              if (found != sent_.end() && found->second.trace == trace) {
                found->second.spectra = std::move(*spectra);
              }
              show_ranks();
              compute_ranks();
            };
          },
          [this](const JobFailure& failure) {
            rank_job_ = 0;
            // After a cancellation, the next step that is sent computes them.
            if (!failure.cancelled) compute_ranks();
          },
          this);
      return;
    }
  }
  show_ranks();
}

void CheckpointsPage::show_ranks() {
  const RankThreshold& threshold = session_.view().rank_threshold;
  Figure figure;
  figure.name = "sent-ranks";
  attnscope::Panel panel;  // QFrame has a Panel, too
  panel.x.label = "step";
  panel.x.key = "step";
  panel.y.label = "mean equivalent rank (" + to_string(threshold) + ")";
  panel.y.minimum = 0;
  panel.legend = LegendPosition::below;
  std::map<std::string, Line> lines;
  for (const auto& [key, known] : sent_) {
    const double rank = mean_equivalent_rank(known.spectra, threshold);
    if (std::isnan(rank)) continue;
    Line& line = lines[key.first];
    line.x.push_back(static_cast<double>(key.second));
    line.y.push_back(rank);
  }
  double first = 0, last = 0;
  for (auto& [name, line] : lines) {
    const std::size_t place = panel.marks.size();
    first = place == 0 ? line.x.front() : std::min(first, line.x.front());
    last = place == 0 ? line.x.back() : std::max(last, line.x.back());
    line.label = name;
    line.keys = {{"training", name}};
    line.colour = subject_colour(place);
    line.marker = subject_marker(place);
    panel.marks.emplace_back(std::move(line));
  }
  if (last > first) {
    // The edges of the axes would cut the first and the last marker in half.
    const double beside = kBesideMarkers * (last - first);
    panel.x.minimum = first - beside;
    panel.x.maximum = last + beside;
  }
  ranks_->setVisible(!panel.marks.empty());
  if (panel.marks.empty()) return;
  figure.panels.push_back(std::move(panel));
  ranks_->show_figure(std::move(figure));
}

void CheckpointsPage::write_picture() {
  const auto* const main = qobject_cast<const QMainWindow*>(window());
  if (main == nullptr || main->centralWidget() == nullptr) return;
  const std::int64_t step = training_->steps().at(training_->place());
  const std::filesystem::path file = pictures_in_ / (step_name(step) + ".png");
  if (main->centralWidget()->grab().save(QString::fromStdString(file.string()), "PNG")) return;
  play_->setChecked(false);
  show_note(tr("⚠ %1 cannot be written").arg(QString::fromStdString(file.string())), true);
}

void CheckpointsPage::play_on() {
  const bool ran = std::ranges::all_of(session_.subjects(),
                                       [](const OpenSubject& open) { return open.job == 0; });
  if (!training_->settled() || !ran) return;  // waits, so that no step is skipped
  if (!pictures_in_.empty() || !film_file_.empty()) {
    // Gives spectra and tiles, which follow a run, a moment to be drawn.
    if (!std::exchange(seen_, session_.idle())) return;
    if (!pictures_in_.empty()) write_picture();
    if (!film_file_.empty()) add_to_film();
    seen_ = false;
  }
  if (slider_->value() == slider_->maximum()) {
    if (!film_file_.empty()) finish_film();
    return play_->setChecked(false);
  }
  move(1);
}

void CheckpointsPage::show_state() {
  const auto count = static_cast<int>(training_->steps().size());
  {
    const QSignalBlocker quiet(slider_);
    slider_->setRange(0, std::max(count - 1, 0));
    slider_->setValue(static_cast<int>(training_->place()));
  }
  for (QWidget* control :
       std::initializer_list<QWidget*>{slider_, back_, play_, forth_, pictures_, film_, strip_}) {
    control->setEnabled(count > 1);
  }
  if (count == 0) {
    step_->clear();
    if (!training_->series().empty()) {
      return show_note(tr("Waiting for the first checkpoint in %1 (step-000128.h5, "
                          "epoch=3-step=1200.ckpt, checkpoint-500, step1000, …).")
                           .arg(QString::fromStdString(training_->series().back().folder.string())),
                       false);
    }
    return show_note(tr("The maps and spectra of a training at each of its steps: open a folder of "
                        "checkpoints, or drop one on the window."),
                     false);
  }
  step_->setText(tr("step %1").arg(training_->steps().at(training_->place())));
  QStringList lines;
  bool any_problem = false;
  for (const TrainingSteps::Series& one : training_->series()) {
    if (one.models.empty()) continue;
    lines << tr("%1: step %2, %3 of %4")
                 .arg(QString::fromStdString(one.name))
                 .arg(one.models[one.wanted].step)
                 .arg(one.wanted + 1)
                 .arg(one.models.size());
    if (one.problem.empty()) continue;
    lines.back() += ". ⚠ " + QString::fromStdString(one.problem);
    any_problem = true;
  }
  show_note(lines.join('\n'), any_problem);
}

void CheckpointsPage::show_note(const QString& note, bool is_error) {
  set_role(note_, is_error ? "error" : "muted");
  note_->setText(note);
}

bool CheckpointsPage::is_behind() const { return !training_->settled(); }

}  // namespace attnscope
