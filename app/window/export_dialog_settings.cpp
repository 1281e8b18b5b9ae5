#include "app/window/export_dialog_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "analysis/figure/setting_form.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// "colour-map" → "Colour map".
QString title_of(const FigureSetting& setting) {
  QString title = text(setting.name);
  title.replace('-', ' ');
  title[0] = title[0].toUpper();
  return title;
}

std::string value_of(const QWidget& editor) {
  if (const auto* check = qobject_cast<const QCheckBox*>(&editor)) {
    return check->isChecked() ? "yes" : "no";
  }
  if (const auto* spin = qobject_cast<const QDoubleSpinBox*>(&editor)) {
    return rounded_text(spin->value(), 6);
  }
  if (const auto* combo = qobject_cast<const QComboBox*>(&editor)) {
    return combo->currentText().trimmed().toStdString();
  }
  const auto* line = editor.findChild<QLineEdit*>();
  if (line == nullptr) line = qobject_cast<const QLineEdit*>(&editor);
  return line == nullptr ? std::string() : line->text().trimmed().toStdString();
}

void set_value_of(QWidget& editor, const std::string& value) {
  const QString shown = QString::fromStdString(value);
  if (auto* check = qobject_cast<QCheckBox*>(&editor)) {
    check->setChecked(value == "yes" || value == "true");
  } else if (auto* spin = qobject_cast<QDoubleSpinBox*>(&editor)) {
    spin->setValue(QLocale::c().toDouble(shown));
  } else if (auto* combo = qobject_cast<QComboBox*>(&editor)) {
    combo->setCurrentText(shown);
  } else if (auto* line = qobject_cast<QLineEdit*>(&editor)) {
    line->setText(shown);
  } else if (auto* inner = editor.findChild<QLineEdit*>()) {
    inner->setText(shown);
  }
}

}  // namespace

FigureSettingsForm::FigureSettingsForm(QWidget* parent) : QWidget(parent) {
  form_ = new QFormLayout(this);
  form_->setContentsMargins(0, 0, 0, 0);
  form_->setVerticalSpacing(7);
  form_->setHorizontalSpacing(12);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
}

QWidget* FigureSettingsForm::make_file_editor(const FigureSetting& setting) {
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* line = new QLineEdit;
  line->setObjectName("setting_" + text(setting.name));
  line->setAccessibleName(title_of(setting));
  line->setPlaceholderText(tr("a file or folder"));
  auto* browse = new QToolButton;
  browse->setText("…");
  browse->setAccessibleName(tr("Browse for %1").arg(title_of(setting)));
  layout->addWidget(line, 1);
  layout->addWidget(browse);
  connect(line, &QLineEdit::textChanged, this, &FigureSettingsForm::changed);
  connect(browse, &QToolButton::clicked, this, [this, line] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Choose a file"), line->text());
    if (!file.isEmpty()) line->setText(file);
  });
  return row;
}

QWidget* FigureSettingsForm::make_editor(const FigureSetting& setting) {
  const SettingControl control = control_of(setting);
  switch (control.kind) {
    case SettingKind::file:
      return make_file_editor(setting);
    case SettingKind::flag: {
      auto* check = new QCheckBox;
      connect(check, &QCheckBox::toggled, this, &FigureSettingsForm::changed);
      return check;
    }
    case SettingKind::number: {
      auto* spin = new QDoubleSpinBox;
      const bool whole = control.maximum - control.minimum > 20;
      spin->setDecimals(whole ? 0 : 3);
      spin->setRange(control.minimum, control.maximum);
      spin->setSingleStep(whole ? 50 : (control.maximum - control.minimum) / 20);
      spin->setKeyboardTracking(false);
      connect(spin, &QDoubleSpinBox::valueChanged, this, &FigureSettingsForm::changed);
      return spin;
    }
    case SettingKind::choice: {
      auto* combo = new QComboBox;
      for (const std::string& choice : control.choices) {
        combo->addItem(QString::fromStdString(choice));
      }
      combo->setEditable(control.free);
      combo->setMinimumContentsLength(8);
      connect(combo, &QComboBox::currentTextChanged, this, &FigureSettingsForm::changed);
      return combo;
    }
    case SettingKind::text:
      break;
  }
  auto* line = new QLineEdit;
  connect(line, &QLineEdit::textChanged, this, &FigureSettingsForm::changed);
  return line;
}

void FigureSettingsForm::show_recipe(const FigureRecipe& recipe,
                                     const std::map<std::string, std::string>& values) {
  const QSignalBlocker quiet(this);
  while (form_->rowCount() > 0) form_->removeRow(0);
  controls_.clear();
  for (const FigureSetting& setting : recipe.settings) {
    if (setting.name == "colour-map") continue;
    QWidget* const editor = make_editor(setting);
    if (editor->objectName().isEmpty()) editor->setObjectName("setting_" + text(setting.name));
    editor->setAccessibleName(title_of(setting));
    editor->setAccessibleDescription(text(setting.explanation));
    auto* label = new QLabel(title_of(setting));
    label->setBuddy(editor);
    // As rich text it is wrapped.
    const QString tip = "<p>" + text(setting.explanation).toHtmlEscaped() + "</p>";
    label->setToolTip(tip);
    editor->setToolTip(tip);
    form_->addRow(label, editor);
    controls_.push_back({setting, editor});
    const auto found = values.find(std::string(setting.name));
    set_value_of(*editor,
                 found == values.end() ? std::string(setting.default_value) : found->second);
  }
}

void FigureSettingsForm::set_value(const std::string& name, const std::string& value) {
  for (const Control& control : controls_) {
    if (control.setting.name == name) set_value_of(*control.editor, value);
  }
}

std::map<std::string, std::string> FigureSettingsForm::settings() const {
  std::map<std::string, std::string> values;
  for (const Control& control : controls_) {
    const std::string value = value_of(*control.editor);
    if (value != control.setting.default_value) {
      values[std::string(control.setting.name)] = value;
    }
  }
  return values;
}

}  // namespace attnscope
