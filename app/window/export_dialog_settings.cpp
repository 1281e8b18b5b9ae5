#include "app/window/export_dialog_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFontComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/style.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

namespace {

QDoubleSpinBox* length_box(const char* name, const QString& title, const QString& suffix,
                           double least, double most) {
  auto* box = new QDoubleSpinBox;
  box->setObjectName(name);
  box->setAccessibleName(title);
  box->setRange(least, most);
  box->setDecimals(1);
  box->setSuffix(suffix);
  box->setKeyboardTracking(false);
  return box;
}

}  // namespace

QString setting_title(const ParameterDescription& setting) {
  QString title = QString::fromUtf8(setting.name);
  title.replace('-', ' ');
  title[0] = title[0].toUpper();
  return title;
}

FigureLookForm::FigureLookForm(QWidget* parent) : QWidget(parent) {
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->setVerticalSpacing(7);
  form->setHorizontalSpacing(12);

  auto* preset_row = new QHBoxLayout;
  preset_row->setSpacing(0);
  const auto presets = width_presets();
  for (std::size_t i = 0; i < presets.size(); ++i) {
    const WidthPreset& preset = presets[i];
    const QString size = preset.height_mm > 0
                             ? QString("%1 × %2 mm").arg(preset.width_mm).arg(preset.height_mm)
                             : QString("%1 mm").arg(preset.width_mm);
    auto* button =
        segment_button("preset_" + QString::fromUtf8(preset.name), QString::fromUtf8(preset.title),
                       QString::fromUtf8(preset.title) + ", " + size,
                       i == 0                    ? "first"
                       : i + 1 == presets.size() ? "last"
                                                 : "middle");
    button->setAutoExclusive(false);
    preset_row->addWidget(button);
    presets_.push_back(button);
    connect(button, &QToolButton::clicked, this,
            [this, preset] { take_preset(preset.width_mm, preset.height_mm); });
  }
  preset_row->addStretch(1);
  form->addRow(tr("Place"), preset_row);

  width_ = length_box("export_width", tr("Width in millimetres"), tr(" mm"), 20, 1000);
  height_ = length_box("export_height", tr("Height in millimetres"), tr(" mm"), 0, 1000);
  height_->setSpecialValueText(tr("automatic"));
  height_->setToolTip(tr("0: height chosen by the figure"));
  auto* size_row = new QHBoxLayout;
  size_row->addWidget(width_, 1);
  size_row->addWidget(new QLabel("×"));
  size_row->addWidget(height_, 1);
  form->addRow(tr("Size"), size_row);

  family_ = new QFontComboBox;
  family_->setObjectName("export_font");
  family_->setAccessibleName(tr("Font family"));
  family_->setMinimumContentsLength(6);
  family_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  size_ = length_box("export_font_size", tr("Font size in points"), tr(" pt"), 4, 24);
  auto* font_row = new QHBoxLayout;
  font_row->addWidget(family_, 1);
  font_row->addWidget(size_);
  form->addRow(tr("Type"), font_row);

  colour_map_ = new QComboBox;
  colour_map_->setObjectName("export_colour_map");
  colour_map_->setAccessibleName(tr("Colour map"));
  colour_map_->addItem(tr("The figure's own"), QString());
  for (const ColourMap& map : colour_maps())
    colour_map_->addItem(QString::fromUtf8(map.title), QString::fromUtf8(map.name));
  form->addRow(tr("Colour map"), colour_map_);

  lines_ = new QComboBox;
  lines_->setObjectName("export_lines");
  lines_->setAccessibleName(tr("Lines"));
  lines_->addItem(tr("The figure's own"), "as-made");
  lines_->addItem(tr("A dash each, for grey prints"), "distinct");
  lines_->addItem(tr("Grey only"), "grey");
  form->addRow(tr("Lines"), lines_);

  transparent_ = new QCheckBox(tr("No background"));
  transparent_->setObjectName("export_transparent");
  letters_ = new QCheckBox(tr("Letters a, b, c"));
  letters_->setObjectName("export_letters");
  shared_legend_ = new QCheckBox(tr("One legend"));
  shared_legend_->setObjectName("export_shared_legend");
  shared_legend_->setToolTip(tr("One legend under all panels"));
  auto* checks = new QHBoxLayout;
  checks->setSpacing(12);
  for (QCheckBox* check : {letters_, shared_legend_, transparent_}) {
    checks->addWidget(check);
    connect(check, &QCheckBox::toggled, this, &FigureLookForm::changed);
  }
  checks->addStretch(1);
  form->addRow(checks);

  const QSettings kept;
  width_->setValue(kept.value("export_width", 84).toDouble());
  height_->setValue(kept.value("export_height", 0).toDouble());
  family_->setCurrentFont(
      QFont(kept.value("export_font", QString::fromUtf8(Figure{}.font_family)).toString()));
  size_->setValue(kept.value("export_font_size", Figure{}.font_size_pt).toDouble());
  lines_->setCurrentIndex(
      std::max(0, lines_->findData(kept.value("export_lines", "as-made").toString())));
  show_preset();
  for (QDoubleSpinBox* box : {width_, height_, size_}) {
    connect(box, &QDoubleSpinBox::valueChanged, this, [this] {
      show_preset();
      emit changed();
    });
  }
  connect(family_, &QFontComboBox::currentFontChanged, this, &FigureLookForm::changed);
  for (QComboBox* combo : {colour_map_, lines_}) {
    connect(combo, &QComboBox::currentIndexChanged, this, &FigureLookForm::changed);
  }
}

void FigureLookForm::take_preset(double width_mm, double height_mm) {
  {
    const QSignalBlocker quiet(height_);
    height_->setValue(height_mm);
  }
  width_->setValue(width_mm);
  show_preset();
  emit changed();
}

void FigureLookForm::show_preset() {
  const auto presets = width_presets();
  for (std::size_t i = 0; i < presets.size(); ++i) {
    presets_[static_cast<qsizetype>(i)]->setChecked(
        std::abs(width_->value() - presets[i].width_mm) < 0.05 &&
        std::abs(height_->value() - presets[i].height_mm) < 0.05);
  }
}

FigureLook FigureLookForm::look() const {
  FigureLook look;
  look.width_mm = width_->value();
  look.style.height_mm = height_->value() >= 20 ? height_->value() : 0;
  const Figure own;
  if (std::abs(size_->value() - own.font_size_pt) > 0.01) look.font_size_pt = size_->value();
  const std::string family = family_->currentFont().family().toStdString();
  if (family != own.font_family) look.style.font_family = family;
  look.style.colour_map = colour_map_->currentData().toString().toStdString();
  look.style.lines = line_look(lines_->currentData().toString().toStdString());
  look.style.letters = letters_->isChecked();
  look.style.shared_legend = shared_legend_->isChecked();
  look.transparent = transparent_->isChecked();
  return look;
}

void FigureLookForm::remember() const {
  QSettings kept;
  kept.setValue("export_width", width_->value());
  kept.setValue("export_height", height_->value());
  kept.setValue("export_font", family_->currentFont().family());
  kept.setValue("export_font_size", size_->value());
  kept.setValue("export_lines", lines_->currentData());
}

}  // namespace attnscope
