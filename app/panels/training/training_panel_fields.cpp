// Settings of a training, and the buttons that control it.
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "app/panels/training/training_panel.h"
#include "app/panels/training/variant_rows.h"
#include "app/session/training_session.h"
#include "app/widgets/browse_button.h"
#include "app/widgets/line_field.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr int kMostSteps = 1'000'000'000;

QPushButton* named_button(const char* name, const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setToolTip(tip);
  return button;
}

}  // namespace

QWidget* TrainingPanel::make_fields() {
  preset_ = new QComboBox;
  preset_->setObjectName("training_preset");
  preset_->setAccessibleName(tr("What is compared"));
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
  data_set_ = line_field("training_data_set", tr("What is learnt"),
                         tr("IDX images, class folders, NPZ, or a text file"));
  browse_data_ = new BrowseButton(
      tr("a data set"), tr("Data sets (*.gz *.h5 *.npz *ubyte *.txt);;All files (*)"), data_set_);
  browse_data_->setObjectName("training_browse_data_set");
  kept_in_ = line_field("training_kept_in", tr("Folder of the runs"),
                        tr("a folder; empty: not kept when the program ends"));
  further_ = line_field("training_settings", tr("Further settings of the recipe"),
                        tr("depth=6 batch=32 seed=2 …"));
  steps_ = new QSpinBox;
  steps_->setObjectName("training_steps");
  steps_->setAccessibleName(tr("Steps"));
  steps_->setRange(1, kMostSteps);
  steps_->setSingleStep(100);
  steps_->setSuffix(tr(" steps"));
  rate_ = new NumberSlider(tr("Rate ×"),
                           {.minimum = 0.01, .maximum = 100, .step = 0.01, .logarithmic = true}, 1);
  rate_->setObjectName("training_rate");
  rate_->setToolTip(
      tr("What the learning rates of the schedule are multiplied by, also while they "
         "learn"));
  connect(rate_, &NumberSlider::value_changed, training_, &TrainingSession::set_rate_factor);
  auto* fields = new QWidget;
  auto* grid = new QGridLayout(fields);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  const auto add = [grid](int row, const QString& title, QWidget* field, QWidget* beside) {
    auto* label = new QLabel(title);
    label->setProperty("role", "muted");
    grid->addWidget(label, row, 0, Qt::AlignTop);
    grid->addWidget(field, row, 1, 1, beside ? 1 : 2);
    if (beside) grid->addWidget(beside, row, 2);
  };
  add(0, tr("Compare"), preset_, steps_);
  add(1, QString(), rows_, nullptr);
  add(2, tr("Data set"), data_set_, browse_data_);
  add(3, tr("Kept in"), kept_in_, nullptr);
  add(4, tr("Recipe"), further_, nullptr);
  grid->setColumnStretch(1, 1);
  return fields;
}

QWidget* TrainingPanel::make_buttons() {
  start_ = named_button("training_start", tr("Start"), tr("They learn, side by side"));
  start_->setProperty("primary", true);
  step_ = named_button("training_step", tr("Step"), tr("One step of each"));
  stop_ =
      named_button("training_stop", tr("Stop"),
                   tr("They end here; models and states are saved, and Resume… continues them"));
  resume_ = named_button("training_resume", tr("Resume…"),
                         tr("With what attnscope train or this panel has left in a folder"));
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
