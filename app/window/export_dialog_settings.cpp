#include "app/window/export_dialog_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFontComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/style.h"
#include "app/widgets/browse_button.h"
#include "app/widgets/tool_button.h"
#include "core/error.h"

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

/// Title of a setting: "colour-map" → "Colour map".
QString setting_title(const ParameterDescription& setting) {
  QString title = QString::fromUtf8(setting.name);
  title.replace('-', ' ');
  title[0] = title[0].toUpper();
  return title;
}

/// The typed text as a value of the setting. Text that cannot be parsed is returned unchanged, and
/// the figure reports the error.
ParameterValue typed_value(const ParameterDescription& setting, const QString& typed) {
  std::string text = typed.trimmed().toStdString();
  try {
    return parse_parameter(setting, text);
  } catch (const Error&) {
    return text;
  }
}

ParameterValue value_of(const ParameterDescription& setting, const QWidget& editor) {
  if (const auto* check = qobject_cast<const QCheckBox*>(&editor)) return check->isChecked();
  if (const auto* spin = qobject_cast<const QDoubleSpinBox*>(&editor)) {
    if (setting.kind == ParameterKind::whole) return static_cast<std::int64_t>(spin->value());
    // Rounding to two more decimals than shown turns 0.30000000000000004 into 0.3.
    const double scale = std::pow(10.0, spin->decimals() + 2);
    return std::round(spin->value() * scale) / scale;
  }
  if (const auto* combo = qobject_cast<const QComboBox*>(&editor)) {
    return typed_value(setting, combo->currentText());
  }
  const auto* line = qobject_cast<const QLineEdit*>(&editor);
  if (line == nullptr) line = editor.findChild<QLineEdit*>();
  return typed_value(setting, line->text());
}

void set_value_of(QWidget& editor, const ParameterValue& value) {
  const QString shown = QString::fromStdString(to_string(value));
  if (auto* check = qobject_cast<QCheckBox*>(&editor)) {
    const bool* on = std::get_if<bool>(&value);
    check->setChecked(on != nullptr && *on);
  } else if (auto* spin = qobject_cast<QDoubleSpinBox*>(&editor)) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      spin->setValue(static_cast<double>(*whole));
    } else if (const auto* number = std::get_if<double>(&value)) {
      spin->setValue(*number);
    }
  } else if (auto* combo = qobject_cast<QComboBox*>(&editor)) {
    combo->setCurrentText(shown);
  } else if (auto* line = qobject_cast<QLineEdit*>(&editor)) {
    line->setText(shown);
  } else if (auto* inner = editor.findChild<QLineEdit*>()) {
    inner->setText(shown);
  }
}

QDoubleSpinBox* number_editor(const ParameterDescription& setting) {
  constexpr double kMost = 1e12;
  constexpr int kDecimals = 3;
  const bool whole = setting.kind == ParameterKind::whole;
  auto* spin = new QDoubleSpinBox;
  spin->setDecimals(whole ? 0 : kDecimals);
  const double least = whole ? 1 : std::pow(10.0, -kDecimals);
  // Values between 0 and the smallest displayable number would be shown as 0.
  const bool above_zero = setting.bounds.minimum > 0 && setting.bounds.minimum < least;
  spin->setRange(above_zero ? least : std::max(setting.bounds.minimum, -kMost),
                 std::min(setting.bounds.maximum, kMost));
  const double extent = spin->maximum() - spin->minimum();
  spin->setSingleStep(whole ? (extent > 20 ? std::min(50.0, std::floor(extent / 20)) : 1)
                            : std::min(1.0, extent / 20));
  if (!setting.unit.empty()) spin->setSuffix(" " + QString::fromUtf8(setting.unit));
  spin->setKeyboardTracking(false);
  return spin;
}

}  // namespace

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

FigureSettingsForm::FigureSettingsForm(QWidget* parent) : QWidget(parent) {
  form_ = new QFormLayout(this);
  form_->setContentsMargins(0, 0, 0, 0);
  form_->setVerticalSpacing(7);
  form_->setHorizontalSpacing(12);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
}

QWidget* FigureSettingsForm::make_file_editor(const ParameterDescription& setting) {
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* line = new QLineEdit;
  line->setObjectName("setting_" + QString::fromUtf8(setting.name));
  line->setAccessibleName(setting_title(setting));
  line->setPlaceholderText(tr("a file or folder"));
  auto* browse = new BrowseButton(setting_title(setting), {}, line);
  layout->addWidget(line, 1);
  layout->addWidget(browse);
  connect(line, &QLineEdit::textChanged, this, &FigureSettingsForm::changed);
  return row;
}

QWidget* FigureSettingsForm::make_editor(const ParameterDescription& setting) {
  const bool is_number =
      setting.kind == ParameterKind::whole || setting.kind == ParameterKind::number;
  if (setting.words.empty()) {
    if (setting.kind == ParameterKind::file) return make_file_editor(setting);
    if (setting.kind == ParameterKind::flag) {
      auto* check = new QCheckBox;
      connect(check, &QCheckBox::toggled, this, &FigureSettingsForm::changed);
      return check;
    }
    if (is_number) {
      QDoubleSpinBox* const spin = number_editor(setting);
      connect(spin, &QDoubleSpinBox::valueChanged, this, &FigureSettingsForm::changed);
      return spin;
    }
  }
  if (!setting.words.empty() || !setting.choices.empty()) {
    auto* combo = new QComboBox;
    for (const auto* list : {&setting.words, &setting.choices}) {
      for (const std::string& word : *list) combo->addItem(QString::fromStdString(word));
    }
    // The combo box is editable if a number or a list may replace the word.
    combo->setEditable(setting.kind != ParameterKind::choice);
    combo->setInsertPolicy(QComboBox::NoInsert);
    combo->setMinimumContentsLength(8);
    connect(combo, &QComboBox::currentTextChanged, this, &FigureSettingsForm::changed);
    return combo;
  }
  auto* line = new QLineEdit;
  connect(line, &QLineEdit::textChanged, this, &FigureSettingsForm::changed);
  return line;
}

void FigureSettingsForm::show_recipe(const FigureRecipe& recipe, const ParameterValues& values) {
  const QSignalBlocker quiet(this);
  while (form_->rowCount() > 0) form_->removeRow(0);
  controls_.clear();
  for (const ParameterDescription& setting : recipe.settings) {
    if (setting.name == "colour-map") continue;
    QWidget* const editor = make_editor(setting);
    if (editor->objectName().isEmpty())
      editor->setObjectName("setting_" + QString::fromUtf8(setting.name));
    const QString explained =
        QString::fromUtf8(setting.explanation) + " (" + QString::fromUtf8(range_of(setting)) + ")";
    editor->setAccessibleName(setting_title(setting));
    editor->setAccessibleDescription(explained);
    auto* label = new QLabel(setting_title(setting));
    label->setBuddy(editor);
    // Tool tips wrap only as rich text.
    const QString tip = "<p>" + explained.toHtmlEscaped() + "</p>";
    label->setToolTip(tip);
    editor->setToolTip(tip);
    form_->addRow(label, editor);
    const auto found = values.find(setting.name);
    set_value_of(*editor, found == values.end() ? setting.default_value : found->second);
    // The default is stored as the editor shows it, because a spin box rounds.
    const bool is_default = found == values.end() || found->second == setting.default_value;
    controls_.push_back(
        {&setting, editor, is_default ? value_of(setting, *editor) : setting.default_value});
  }
}

ParameterValues FigureSettingsForm::settings() const {
  ParameterValues values;
  for (const Control& control : controls_) {
    ParameterValue value = value_of(*control.setting, *control.editor);
    if (value != control.default_value) values[control.setting->name] = std::move(value);
  }
  return values;
}

}  // namespace attnscope
