#include "app/panels/frame/settings_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "app/widgets/browse_button.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/number_slider.h"
#include "core/error.h"

namespace attnscope {

namespace {

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
  if (const auto* slider = qobject_cast<const NumberSlider*>(&editor)) {
    return value_of(setting, slider->field());
  }
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
  } else if (auto* slider = qobject_cast<NumberSlider*>(&editor)) {
    set_value_of(slider->field(), value);
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

/// Numbers in a narrow range have a slider next to their field; those over several orders of
/// magnitude a logarithmic one.
bool is_slid(const ParameterDescription& setting) {
  constexpr double kMostSteps = 4096, kWidest = 10;
  const double extent = setting.bounds.maximum - setting.bounds.minimum;
  return extent <= (setting.kind == ParameterKind::whole ? kMostSteps : kWidest);
}

void fit_number_field(QDoubleSpinBox& spin, const ParameterDescription& setting) {
  constexpr double kMost = 1e12;
  constexpr int kDecimals = 3;
  const bool whole = setting.kind == ParameterKind::whole;
  spin.setDecimals(whole ? 0 : kDecimals);
  const double least = whole ? 1 : std::pow(10.0, -kDecimals);
  // Values between 0 and the smallest displayable number would be shown as 0.
  const bool above_zero = setting.bounds.minimum > 0 && setting.bounds.minimum < least;
  spin.setRange(above_zero ? least : std::max(setting.bounds.minimum, -kMost),
                std::min(setting.bounds.maximum, kMost));
  const double extent = spin.maximum() - spin.minimum();
  const bool bounded = std::isfinite(setting.bounds.maximum);
  spin.setSingleStep(whole ? (bounded && extent > 20 ? std::min(50.0, std::floor(extent / 20)) : 1)
                           : std::min(1.0, extent / 20));
  if (!setting.unit.empty()) spin.setSuffix(" " + QString::fromUtf8(setting.unit));
  spin.setKeyboardTracking(false);
}

}  // namespace

QString setting_title(const ParameterDescription& setting) {
  static const std::map<std::string, const char*, std::less<>> plain = {
      {"added", QT_TR_NOOP("Added to it")},
      {"against", QT_TR_NOOP("Horizontal axis")},
      {"align", QT_TR_NOOP("Layer alignment")},
      {"attention", QT_TR_NOOP("Attention of")},
      {"bands", QT_TR_NOOP("Bands")},
      {"bound", QT_TR_NOOP("Bound of the rank")},
      {"by", QT_TR_NOOP("One bar for each")},
      {"centred", QT_TR_NOOP("Without the mean row")},
      {"classes", QT_TR_NOOP("Classes at most")},
      {"columns", QT_TR_NOOP("Side by side")},
      {"convention", QT_TR_NOOP("Counted as in")},
      {"crossings", QT_TR_NOOP("Crossings marked")},
      {"dataset", QT_TR_NOOP("Data set")},
      {"digits", QT_TR_NOOP("Decimals")},
      {"end", QT_TR_NOOP("Last token")},
      {"file", QT_TR_NOOP("Result file")},
      {"folder", QT_TR_NOOP("Training folder")},
      {"identity", QT_TR_NOOP("Identity mapping")},
      {"least", QT_TR_NOOP("Fewest tokens")},
      {"likeness", QT_TR_NOOP("Similarity")},
      {"mass", QT_TR_NOOP("Share of the class row")},
      {"measure", QT_TR_NOOP("Measure")},
      {"method", QT_TR_NOOP("Singular values by")},
      {"most", QT_TR_NOOP("Most tokens")},
      {"norm", QT_TR_NOOP("Colour scale")},
      {"mlp", QT_TR_NOOP("With MLP")},
      {"null", QT_TR_NOOP("Shuffled baseline")},
      {"numbers", QT_TR_NOOP("Divergences")},
      {"of", QT_TR_NOOP("Analysed matrix")},
      {"place", QT_TR_NOOP("Token position")},
      {"projections", QT_TR_NOOP("With projections")},
      {"range", QT_TR_NOOP("Colour range")},
      {"relative", QT_TR_NOOP("Relative to network")},
      {"rows-to-one", QT_TR_NOOP("Rows sum to 1")},
      {"share", QT_TR_NOOP("Share of σ or σ²")},
      {"show", QT_TR_NOOP("Parts shown")},
      {"sink", QT_TR_NOOP("Share of a sink")},
      {"skip", QT_TR_NOOP("Skip weight α")},
      {"skips", QT_TR_NOOP("Skip weights compared")},
      {"spread", QT_TR_NOOP("Spread around the mean")},
      {"supports", QT_TR_NOOP("Support vectors")},
      {"target", QT_TR_NOOP("Class or token")},
      {"targets", QT_TR_NOOP("Classes or tokens")},
      {"threshold", QT_TR_NOOP("Threshold τ")},
      {"top", QT_TR_NOOP("Tokens listed")},
      {"traffic", QT_TR_NOOP("With memory traffic")},
  };
  if (const auto known = plain.find(setting.name); known != plain.end()) {
    return QObject::tr(known->second);
  }
  QString title = QString::fromUtf8(setting.name);
  title.replace('-', ' ');
  title[0] = title[0].toUpper();
  return title;
}

namespace {

QWidget* number_editor(const ParameterDescription& setting) {
  constexpr double kOrdersApart = 64;
  if (!is_slid(setting)) {
    auto* const spin = new QDoubleSpinBox;
    fit_number_field(*spin, setting);
    return spin;
  }
  const bool whole = setting.kind == ParameterKind::whole;
  SliderRange range{.minimum = setting.bounds.minimum,
                    .maximum = setting.bounds.maximum,
                    .step = whole ? 1 : 0.001};
  range.minimum = std::max(range.minimum, whole || range.minimum == 0 ? range.minimum : range.step);
  range.logarithmic = whole && range.minimum > 0 && range.maximum / range.minimum >= kOrdersApart;
  auto* const slider = new NumberSlider(setting_title(setting), range, range.minimum);
  slider->hide_name();
  fit_number_field(slider->field(), setting);
  slider->field().setObjectName("setting_" + QString::fromUtf8(setting.name));
  return slider;
}

}  // namespace

FigureSettingsForm::FigureSettingsForm(QWidget* parent) : QWidget(parent) {
  form_ = new QFormLayout(this);
  form_->setContentsMargins(0, 0, 0, 0);
  form_->setVerticalSpacing(7);
  form_->setHorizontalSpacing(12);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form_->setRowWrapPolicy(QFormLayout::WrapLongRows);
}

void FigureSettingsForm::tell(const std::string& name) {
  emit edited(name);
  emit changed();
}

QWidget* FigureSettingsForm::make_file_editor(const ParameterDescription& setting) {
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* line = new QLineEdit;
  line->setObjectName("setting_" + QString::fromUtf8(setting.name));
  line->setAccessibleName(setting_title(setting));
  const bool is_result = setting.name == "file";
  line->setPlaceholderText(is_result ? tr("a file (.h5)") : tr("a file or folder"));
  auto* browse = new BrowseButton(
      setting_title(setting), is_result ? tr("Results (*.h5 *.unfinished);;All files (*)") : "",
      line, row, is_result ? BrowseButton::Paths::files : BrowseButton::Paths::files_and_folders);
  browse->setObjectName("browse_" + QString::fromUtf8(setting.name));
  layout->addWidget(line, 1);
  layout->addWidget(browse);
  connect(line, &QLineEdit::textChanged, this, [this, name = setting.name] { tell(name); });
  return row;
}

QWidget* FigureSettingsForm::make_editor(const ParameterDescription& setting) {
  const auto tell_changed = [this, name = setting.name] { tell(name); };
  const bool is_number =
      setting.kind == ParameterKind::whole || setting.kind == ParameterKind::number;
  if (setting.words.empty()) {
    if (setting.kind == ParameterKind::file) return make_file_editor(setting);
    if (setting.kind == ParameterKind::flag) {
      auto* check = new QCheckBox;
      connect(check, &QCheckBox::toggled, this, tell_changed);
      return check;
    }
    if (is_number) {
      QWidget* const editor = number_editor(setting);
      auto* const slider = qobject_cast<NumberSlider*>(editor);
      auto* const field = slider ? &slider->field() : qobject_cast<QDoubleSpinBox*>(editor);
      connect(field, &QDoubleSpinBox::valueChanged, this, tell_changed);
      return editor;
    }
  }
  if (!setting.words.empty() || !setting.choices.empty()) {
    auto* combo = new ElidedComboBox;
    for (const auto* list : {&setting.words, &setting.choices}) {
      for (const std::string& word : *list) combo->addItem(QString::fromStdString(word));
    }
    // The combo box is editable if a number or a list may replace the word.
    combo->setEditable(setting.kind != ParameterKind::choice);
    combo->setInsertPolicy(QComboBox::NoInsert);
    if (combo->isEditable()) {
      combo->lineEdit()->setObjectName("setting_" + QString::fromUtf8(setting.name) + "_text");
    }
    connect(combo, &QComboBox::currentTextChanged, this, tell_changed);
    return combo;
  }
  auto* line = new QLineEdit;
  connect(line, &QLineEdit::textChanged, this, tell_changed);
  return line;
}

void FigureSettingsForm::show_recipe(const FigureRecipe& recipe, const ParameterValues& values) {
  const QSignalBlocker quiet(this);
  while (form_->rowCount() > 0) form_->removeRow(0);
  controls_.clear();
  for (const ParameterDescription& setting : recipe.settings) {
    if (setting.name == "colour-map") continue;
    QWidget* const editor = make_editor(setting);
    const QString object_name = "setting_" + QString::fromUtf8(setting.name);
    if (editor->objectName().isEmpty() && editor->findChild<QWidget*>(object_name) == nullptr) {
      editor->setObjectName(object_name);
    }
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

void FigureSettingsForm::set_value(std::string_view name, const ParameterValue& value) {
  const QSignalBlocker quiet(this);
  for (const Control& control : controls_) {
    if (control.setting->name == name) set_value_of(*control.editor, value);
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
