#include "app/window/export_dialog_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFontComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/style.h"
#include "app/widgets/elided_combo_box.h"

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

QComboBox* place_box() {
  auto* box = new ElidedComboBox(12);
  box->setObjectName("export_place");
  box->setAccessibleName(QObject::tr("Journal, conference or slide"));
  box->addItem(QObject::tr("Own width"), QSizeF());
  for (const WidthPreset& preset : width_presets()) {
    const QString size = preset.height_mm > 0
                             ? QString("%1 × %2 mm").arg(preset.width_mm).arg(preset.height_mm)
                             : QString("%1 mm").arg(preset.width_mm);
    box->addItem(QString("%1 · %2").arg(QString::fromUtf8(preset.title), size),
                 QSizeF(preset.width_mm, preset.height_mm));
  }
  return box;
}

void show_place_of(const QSizeF& size_mm, QComboBox& place) {
  int found = 0;
  for (int index = 1; index < place.count() && found == 0; ++index) {
    const QSizeF known = place.itemData(index).toSizeF();
    const bool same = std::abs(known.width() - size_mm.width()) < 0.05 &&
                      std::abs(known.height() - size_mm.height()) < 0.05;
    if (same) found = index;
  }
  // Several journals have the same width: the chosen one stays.
  const QSizeF shown = place.currentData().toSizeF();
  const bool stays = found > 0 && shown == place.itemData(found).toSizeF();
  if (!stays) place.setCurrentIndex(found);
}

FigureLookForm::FigureLookForm(QWidget* parent) : QWidget(parent) {
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->setVerticalSpacing(7);
  form->setHorizontalSpacing(12);

  place_ = place_box();
  form->addRow(tr("Width for"), place_);
  connect(place_, &QComboBox::activated, this, &FigureLookForm::take_place);

  width_ = length_box("export_width", tr("Width in millimetres"), tr(" mm"), 20, 1000);
  height_ = length_box("export_height", tr("Height in millimetres"), tr(" mm"), 0, 1000);
  height_->setSpecialValueText(tr("auto"));
  height_->setToolTip(tr("The least value: the height that the figure needs"));
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
  lines_->addItem(tr("Different dashes (for grey print)"), "distinct");
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
  show_place();
  for (QDoubleSpinBox* box : {width_, height_, size_}) {
    connect(box, &QDoubleSpinBox::valueChanged, this, [this] {
      show_place();
      emit changed();
    });
  }
  connect(family_, &QFontComboBox::currentFontChanged, this, &FigureLookForm::changed);
  for (QComboBox* combo : {colour_map_, lines_}) {
    connect(combo, &QComboBox::currentIndexChanged, this, &FigureLookForm::changed);
  }
}

void FigureLookForm::take_place() {
  const QSizeF size = place_->currentData().toSizeF();
  if (!size.isValid()) return;  // one's own
  {
    const QSignalBlocker quiet(height_);
    height_->setValue(size.height());
  }
  width_->setValue(size.width());
  show_place();
  emit changed();
}

void FigureLookForm::show_place() { show_place_of({width_->value(), height_->value()}, *place_); }

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
