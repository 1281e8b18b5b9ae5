#include "app/panels/training/training_panel.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QEventLoop>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <system_error>

#include "app/look/theme.h"
#include "app/panels/frame/figure_view.h"
#include "app/panels/training/checkpoints_page.h"
#include "app/panels/training/training_figure.h"
#include "app/panels/training/variant_rows.h"
#include "app/session/session.h"
#include "app/session/training_session.h"
#include "app/widgets/browse_button.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/number_slider.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"
#include "core/text/failure.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

namespace {

constexpr int kMostSteps = 1'000'000'000;

QPushButton* named_button(const char* name, const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setToolTip(tip);
  return button;
}

constexpr int kTrainingWidth = 420;

/// Parses further keys of a recipe, such as "depth=6 batch=32". Throws Error(usage).
void add_settings(const std::string& text, ParameterValues& recipe) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const ParameterDescription& setting =
        description_of("a recipe", recipe_settings(), word.substr(0, equals));
    recipe[setting.name] =
        parse_parameter(setting, equals == std::string::npos ? "" : word.substr(equals + 1));
  }
}

}  // namespace

TrainingPanel::TrainingPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent),
      session_(session),
      presets_(training_presets()),
      training_(new TrainingSession(session, this)) {
  set_preferred_width(kTrainingWidth);
  add_views();
  add_pages();
  connect(training_, &TrainingSession::changed, this, &TrainingPanel::show_state);
  connect(training_, &TrainingSession::failed, this,
          [this](const QString& what) { show_note("⚠ " + what, true); });
  choose_preset(0);
  show_state();
}

TrainingPanel::~TrainingPanel() = default;

void TrainingPanel::add_pages() {
  as_training_ = segment_button("training_page_new", tr("New training"),
                                tr("Train networks and watch their maps"), "first");
  as_checkpoints_ =
      segment_button("training_page_checkpoints", tr("Checkpoints"),
                     tr("Step through the checkpoints of a finished training"), "last");
  as_training_->setChecked(true);
  auto* const choice = new QWidget;
  auto* const row = new QHBoxLayout(choice);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(as_training_);
  row->addWidget(as_checkpoints_);
  row->addStretch(1);
  body()->addWidget(choice);

  auto* const page = new QWidget;
  auto* const column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(make_fields());
  column->addWidget(make_buttons());
  note_ = new WrappedLabel;
  note_->setObjectName("training_note");
  note_->setProperty("role", "muted");
  column->addWidget(note_);
  plot_ = new FigureView(tr("Trainings over their steps"),
                         tr("Press Start: loss and rank are drawn here."));
  column->addWidget(plot_, 1);
  checkpoints_ = new CheckpointsPage(session_);
  checkpoints_->become_page();
  pages_ = new QStackedWidget;
  pages_->addWidget(page);
  pages_->addWidget(checkpoints_);
  body()->addWidget(pages_, 1);
  connect(as_checkpoints_, &QToolButton::toggled, this, [this](bool on) {
    pages_->setCurrentIndex(on ? 1 : 0);
    views_->setVisible(!on);
  });
}

bool TrainingPanel::show_page(const std::string& page) {
  if (page != "training" && page != "over-training") return false;
  (page == "training" ? as_training_ : as_checkpoints_)->setChecked(true);
  return true;
}

bool TrainingPanel::open_document(const std::filesystem::path& file) {
  if (!checkpoints_->open_document(file)) return false;
  as_checkpoints_->setChecked(true);
  return true;
}

ControlValues TrainingPanel::settings() const {
  ControlValues all = DockPanel::settings();
  std::erase_if(all, [](const auto& one) { return one.first.starts_with("over_training_"); });
  return all;
}

void TrainingPanel::add_views() {
  auto* const segments = new Segments;
  views_ = segments;
  const struct {
    QString id, name, tip;
    TrainingView view;
    const char* place;
  } views[] = {
      {"loss", tr("Loss"), tr("Loss of the batches; marks: of the test examples"),
       TrainingView::loss, "first"},
      {"accuracy", tr("Accuracy"), tr("Accuracy on the batches; marks: on the test examples"),
       TrainingView::accuracy, "middle"},
      {"rank", tr("Rank"), tr("Equivalent rank of the attention maps: mean and each layer"),
       TrainingView::rank, "middle"},
      {"entropy", tr("Entropy"), tr("Entropy of a query's weights: mean and each layer"),
       TrainingView::entropy, "last"}};
  for (const auto& view : views) {
    QToolButton* const button =
        segment_button("training_view_" + view.id, view.name, view.tip, view.place);
    button->setChecked(view.view == view_);
    segments->add(button);
    connect(button, &QToolButton::toggled, this, [this, view = view.view](bool on) {
      if (!on) return;
      view_ = view;
      drawn_.clear();
      draw_curves();
    });
  }
  add_to_header(segments);
}

void TrainingPanel::choose_preset(int index) {
  const TrainingPreset& preset = presets_.at(static_cast<std::size_t>(index));
  rows_->set_variants(preset.variants);
  const ParameterValues& recipe = preset.variants.front().recipe;
  if (const auto steps = recipe.find("steps"); steps != recipe.end()) {
    steps_->setValue(static_cast<int>(std::get<std::int64_t>(steps->second)));
  }
  const std::filesystem::path images = fashion_mnist_folder();
  const bool is_images = data_set_->text().toStdString() == images.string();
  if (preset.of_texts) {
    if (is_images) data_set_->clear();
    return show_note(
        tr("%1 Choose a text file to learn from.").arg(QString::fromStdString(preset.what)));
  }
  if (data_set_->text().isEmpty()) data_set_->setText(QString::fromStdString(images.string()));
  if (!data_set_->text().isEmpty()) return show_note(QString::fromStdString(preset.what));
  show_note(
      tr("Fashion-MNIST is not installed: sudo apt install dataset-fashion-mnist; or choose "
         "another data set."));
}

std::vector<PresetVariant> TrainingPanel::wanted() const {
  std::vector<PresetVariant> variants = rows_->variants();
  std::vector<ParameterValues> recipes;
  const std::string labels = labels_for(data_set_->text().toStdString());
  for (PresetVariant& variant : variants) {
    if (!labels.empty() && !variant.recipe.contains("context")) variant.recipe["labels"] = labels;
    variant.recipe["steps"] = std::int64_t{steps_->value()};
    // About 30 probes, which cost at most a twentieth of the time.
    variant.recipe["probe_every"] = std::max<std::int64_t>(steps_->value() / 30, 10);
    add_settings(further_->text().toStdString(), variant.recipe);
    recipes.push_back(variant.recipe);
  }
  const std::vector<std::string> names = variant_names(recipes);
  for (std::size_t i = 0; i < names.size(); ++i) variants[i].name = names[i];
  return variants;
}

std::filesystem::path TrainingPanel::out() {
  const std::filesystem::path chosen = kept_in_->text().trimmed().toStdString();
  if (!chosen.empty()) return chosen;
  return std::filesystem::path(folder_.path().toStdString()) / std::to_string(++begun_);
}

void TrainingPanel::begin() {
  if (data_set_->text().trimmed().isEmpty()) return show_note(tr("Choose training data."), true);
  try {
    training_->begin(wanted(), data_set_->text().trimmed().toStdString(), out());
    drawn_.clear();
    show_note(QString());
    open_input();
  } catch (const std::exception& error) {
    show_note("⚠ " + QString::fromStdString(as_error(error).in_window()), true);
  }
}

/// Opens the first test image if no input is open.
void TrainingPanel::open_input() {
  if (!session_.input_locator().empty()) return;
  const std::filesystem::path folder = data_set_->text().trimmed().toStdString();
  std::error_code ignored;
  for (const char* const name : {"t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"}) {
    if (!std::filesystem::exists(folder / name, ignored)) continue;
    return session_.set_input((folder / name).string() + "#0");
  }
}

void TrainingPanel::start_or_pause() {
  if (!training_->is_on()) return begin();
  training_->is_running() ? training_->pause() : training_->start();
}

void TrainingPanel::resume_folder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Resume the trainings in a folder"),
                                        QSettings().value("training_folder").toString());
  if (folder.isEmpty()) return;
  QSettings().setValue("training_folder", folder);
  try {
    training_->open(folder.toStdString());
    kept_in_->setText(folder);
    drawn_.clear();
    show_note(tr("The trainings are paused at their last step: Start resumes training."));
  } catch (const Error& error) {
    show_note("⚠ " + QString::fromStdString(error.in_window()), true);
  }
}

void TrainingPanel::show_note(const QString& note, bool is_error) {
  set_role(note_, is_error ? "error" : "muted");
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
}

void TrainingPanel::show_state() {
  const bool on = training_->is_on(), running = training_->is_running();
  const bool ends = on && std::ranges::all_of(training_->runs(), [](const auto& run) {
                      return run.moment.state == TrainingState::finished ||
                             run.moment.state == TrainingState::failed;
                    });
  start_->setText(running ? tr("Pause") : tr("Start"));
  start_->setEnabled(!ends);
  step_->setEnabled(on && !running && !ends);
  stop_->setEnabled(on);
  for (QWidget* field : std::initializer_list<QWidget*>{preset_, steps_, data_set_, browse_data_,
                                                        kept_in_, further_, resume_}) {
    field->setEnabled(!on);
  }
  rows_->show_runs(session_, training_->runs());
  draw_curves();
}

void TrainingPanel::draw_curves() {
  if (!isVisible()) return;
  std::vector<TrainingCurve> curves;
  for (const TrainingSession::Run& run : training_->runs()) {
    const std::int64_t place = session_.place_of(run.subject);
    curves.push_back({run.name, place < 0 ? curves.size() : static_cast<std::size_t>(place),
                      run.training->log()});
  }
  if (curves.empty()) return;  // the last curves stay after a stop
  if (curves == drawn_ && plot_->figure() != nullptr) return;
  drawn_ = curves;
  plot_->show_figure(training_figure(curves, view_));
}

void TrainingPanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  drawn_.clear();
  draw_curves();
}

bool TrainingPanel::may_close() {
  std::error_code ignored;
  const bool lost = !std::filesystem::is_empty(folder_.path().toStdString(), ignored);
  if (!lost && !training_->is_running()) return true;
  QMessageBox box(QMessageBox::Warning, tr("Close the window?"),
                  lost
                      ? tr("The networks trained here are not kept in a folder: closing the "
                           "window loses them.")
                      : tr("Networks are still training. Closing the window stops the training and "
                           "saves its state in the folder of the runs."),
                  QMessageBox::Discard | QMessageBox::Cancel, this);
  box.button(QMessageBox::Discard)->setText(lost ? tr("Discard") : tr("Close"));
  if (lost) box.addButton(QMessageBox::Save)->setText(tr("Save to folder…"));
  box.setDefaultButton(QMessageBox::Cancel);
  const int answer = box.exec();
  return answer == QMessageBox::Discard || (answer == QMessageBox::Save && keep_networks());
}

/// Copies all networks into new subfolders of a folder that the user chooses. False if they were
/// not saved.
bool TrainingPanel::keep_networks() {
  const QString chosen = QFileDialog::getExistingDirectory(
      this, tr("Folder of the runs"), QSettings().value("training_folder").toString());
  if (chosen.isEmpty()) return false;
  training_->stop();
  while (training_->is_saving()) {
    QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents |
                                    QEventLoop::WaitForMoreEvents);
  }
  namespace fs = std::filesystem;
  try {
    for (const fs::directory_entry& begun : fs::directory_iterator(folder_.path().toStdString())) {
      fs::path kept = fs::path(chosen.toStdString()) / "networks";
      for (int number = 2; !fs::create_directory(kept); ++number) {
        kept.replace_filename("networks-" + std::to_string(number));
      }
      fs::copy(begun, kept, fs::copy_options::recursive);
    }
  } catch (const fs::filesystem_error& error) {
    show_note("⚠ " + tr("%1: the networks were not saved: %2")
                         .arg(chosen, QString::fromStdString(error.code().message())),
              true);
    return false;
  }
  return true;
}

bool TrainingPanel::is_behind() const {
  if (as_checkpoints_->isChecked()) return checkpoints_->is_behind();
  return isVisible() && !training_->is_running() && !training_->settled();
}

const Figure* TrainingPanel::figure() const { return plot_->figure(); }

QWidget* TrainingPanel::make_fields() {
  preset_ = new ElidedComboBox;
  preset_->setObjectName("training_preset");
  preset_->setAccessibleName(tr("Comparison"));
  auto* const items = qobject_cast<QStandardItemModel*>(preset_->model());
  for (const TrainingPreset& preset : presets_) {
    preset_->addItem(QString::fromStdString(preset.name));
    const int index = preset_->count() - 1;
    const bool can = preset.why_not.empty();
    items->item(index)->setEnabled(can);
    preset_->setItemData(
        index,
        QString::fromStdString(can ? preset.what : preset.what + "\nNot yet: " + preset.why_not),
        Qt::ToolTipRole);
  }
  connect(preset_, &QComboBox::activated, this, &TrainingPanel::choose_preset);
  rows_ = new VariantRows;
  connect(rows_, &VariantRows::in_step_toggled, training_, &TrainingSession::keep_in_step);
  data_set_ = line_field("training_data_set", tr("Training data"), tr("images, or a text file"));
  browse_data_ = new BrowseButton(
      tr("a data set"), tr("Data sets (*.gz *.h5 *.npz *ubyte *.txt);;All files (*)"), data_set_);
  browse_data_->setObjectName("training_browse_data_set");
  kept_in_ = line_field("training_kept_in", tr("Folder of the runs"),
                        tr("folder (leave empty to discard)"));
  further_ = line_field("training_settings", tr("Further settings of the recipe"),
                        tr("depth=6 batch=32 seed=2 …"));
  steps_ = new QSpinBox;
  steps_->setObjectName("training_steps");
  steps_->setAccessibleName(tr("Steps"));
  steps_->setRange(1, kMostSteps);
  steps_->setSingleStep(100);
  steps_->setSuffix(tr(" steps"));
  rate_ = new NumberSlider(tr("Learning rate ×"),
                           {.minimum = 0.01, .maximum = 100, .step = 0.01, .logarithmic = true}, 1);
  rate_->setObjectName("training_rate");
  rate_->setToolTip(
      tr("Factor of the schedule's learning rates, which can be changed during training"));
  connect(rate_, &NumberSlider::value_changed, training_, &TrainingSession::set_rate_factor);
  auto* fields = new QWidget;
  auto* grid = new QGridLayout(fields);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  const auto add = [grid](int row, const QString& title, QWidget* field, QWidget* beside) {
    auto* label = new QLabel(title);
    label->setProperty("role", "muted");
    // A field of several rows keeps its title at its first.
    grid->addWidget(label, row, 0, field->layout() ? Qt::AlignTop : Qt::AlignVCenter);
    grid->addWidget(field, row, 1, 1, beside ? 1 : 2);
    if (beside) grid->addWidget(beside, row, 2);
  };
  add(0, tr("Compare"), preset_, steps_);
  add(1, QString(), rows_, nullptr);
  add(2, tr("Data set"), data_set_, browse_data_);
  add(3, tr("Save to"), kept_in_, nullptr);
  add(4, tr("Settings"), further_, nullptr);
  grid->setColumnStretch(1, 1);
  return fields;
}

QWidget* TrainingPanel::make_buttons() {
  start_ = named_button("training_start", tr("Start"), tr("Start training"));
  start_->setProperty("primary", true);
  step_ = named_button("training_step", tr("Step"), tr("One step of each network"));
  stop_ =
      named_button("training_stop", tr("Stop"), tr("Stop and save; continue later with Resume…"));
  resume_ = named_button("training_resume", tr("Resume…"),
                         tr("Resume a run that attnscope train or this panel saved in a folder"));
  connect(start_, &QPushButton::clicked, this, &TrainingPanel::start_or_pause);
  connect(step_, &QPushButton::clicked, training_, &TrainingSession::advance);
  connect(stop_, &QPushButton::clicked, training_, &TrainingSession::stop);
  connect(resume_, &QPushButton::clicked, this, &TrainingPanel::resume_folder);
  auto* buttons = new QWidget;
  auto* column = new QVBoxLayout(buttons);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* row = new QHBoxLayout;
  for (QPushButton* button : {start_, step_, stop_}) row->addWidget(button);
  row->addStretch(1);
  row->addWidget(resume_);
  column->addLayout(row);
  column->addWidget(rate_);
  return buttons;
}

}  // namespace attnscope
