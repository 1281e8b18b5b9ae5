#include "app/window/preferences.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/figure/colour_map.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr double kLeastScale = 0.8, kMostScale = 2;

}  // namespace

Preferences read_preferences() {
  const QSettings settings;
  Preferences read;
  read.theme = settings.value("theme").toString() == "light" ? Theme::light : Theme::dark;
  read.text_scale =
      std::clamp(settings.value("text_scale", 1.0).toDouble(), kLeastScale, kMostScale);
  const std::string wanted = settings.value("colour_map").toString().toStdString();
  for (const ColourMap& map : colour_maps()) {
    if (map.name == wanted) read.colour_map = wanted;
  }
  const double threshold = settings.value("rank_threshold", read.rank_threshold.level).toDouble();
  if (threshold > 0 && threshold <= 1) read.rank_threshold.level = threshold;
  const bool squares = settings.value("rank_share").toString() == "energy";
  read.rank_threshold.of = squares ? RankShare::energy : RankShare::values;
  read.layers_from_one = settings.value("layers_from_one", false).toBool();
  read.reopen = settings.value("reopen", false).toBool();
  return read;
}

void write_preferences(const Preferences& preferences) {
  QSettings settings;
  settings.setValue("theme", preferences.theme == Theme::dark ? "dark" : "light");
  settings.setValue("text_scale", preferences.text_scale);
  settings.setValue("colour_map", QString::fromStdString(preferences.colour_map));
  settings.setValue("rank_threshold", preferences.rank_threshold.level);
  settings.setValue("rank_share",
                    preferences.rank_threshold.of == RankShare::energy ? "energy" : "values");
  settings.setValue("layers_from_one", preferences.layers_from_one);
  settings.setValue("reopen", preferences.reopen);
}

PreferencesDialog::PreferencesDialog(const Preferences& preferences, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Preferences"));
  setMinimumWidth(440);
  theme_ = new QComboBox;
  theme_->setObjectName("preferred_theme");
  theme_->addItems({tr("Dark"), tr("Light")});
  theme_->setCurrentIndex(preferences.theme == Theme::dark ? 0 : 1);
  text_scale_ = new NumberSlider({}, {kLeastScale, kMostScale, 0.05}, preferences.text_scale);
  text_scale_->setObjectName("preferred_text_scale");
  colour_map_ = new QComboBox;
  for (const ColourMap& map : colour_maps()) {
    if (!map.diverging)
      colour_map_->addItem(QString::fromUtf8(map.title), QString::fromUtf8(map.name));
  }
  colour_map_->setCurrentIndex(
      std::max(0, colour_map_->findData(QString::fromStdString(preferences.colour_map))));
  threshold_ = new NumberSlider({}, {0.5, 0.99, 0.01}, preferences.rank_threshold.level);
  share_ = new QComboBox;
  share_->setObjectName("preferred_share");
  share_->addItems({tr("Σσ, singular values"), tr("Σσ², their squares")});
  share_->setCurrentIndex(preferences.rank_threshold.of == RankShare::energy ? 1 : 0);
  layers_from_one_ = new QCheckBox(tr("Number layers from 1"));
  layers_from_one_->setObjectName("layers_from_one");
  layers_from_one_->setChecked(preferences.layers_from_one);
  reopen_ = new QCheckBox(tr("Reopen the last session"));
  reopen_->setChecked(preferences.reopen);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 18, 20, 16);
  auto* form = new QFormLayout;
  form->setSpacing(10);
  form->addRow(tr("Theme"), theme_);
  form->addRow(tr("Text size"), text_scale_);
  form->addRow(tr("Colour map"), colour_map_);
  form->addRow(tr("Rank at τ"), threshold_);
  form->addRow(tr("Share of"), share_);
  form->addRow(tr("Figures"), layers_from_one_);
  form->addRow(tr("At start"), reopen_);
  column->addLayout(form);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  column->addSpacing(8);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

Preferences PreferencesDialog::preferences() const {
  Preferences chosen;
  chosen.theme = theme_->currentIndex() == 0 ? Theme::dark : Theme::light;
  chosen.text_scale = text_scale_->value();
  chosen.colour_map = colour_map_->currentData().toString().toStdString();
  chosen.rank_threshold = {threshold_->value(),
                           share_->currentIndex() == 1 ? RankShare::energy : RankShare::values};
  chosen.layers_from_one = layers_from_one_->isChecked();
  chosen.reopen = reopen_->isChecked();
  return chosen;
}

}  // namespace attnscope
