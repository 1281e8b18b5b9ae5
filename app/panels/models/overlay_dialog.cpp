#include "app/panels/models/overlay_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

QWidget* make_editor(const ParameterDescription& parameter) {
  const auto [least, most] = parameter.bounds;
  if (const bool* on = std::get_if<bool>(&parameter.default_value)) {
    auto* check = new QCheckBox(QString::fromUtf8(parameter.explanation));
    check->setChecked(*on);
    return check;
  }
  if (const auto* number = std::get_if<std::int64_t>(&parameter.default_value)) {
    auto* spin = new QSpinBox;
    constexpr double kLeast = std::numeric_limits<int>::min(),
                     kMost = std::numeric_limits<int>::max();
    spin->setRange(static_cast<int>(std::max(least, kLeast)),
                   static_cast<int>(std::min(most, kMost)));
    spin->setValue(static_cast<int>(*number));
    return spin;
  }
  if (parameter.kind == ParameterKind::whole) {  // the value below the least one shows a word
    auto* spin = new QSpinBox;
    spin->setRange(static_cast<int>(least) - 1, static_cast<int>(most));
    spin->setSpecialValueText(QString::fromStdString(to_string(parameter.default_value)));
    spin->setValue(spin->minimum());
    return spin;
  }
  if (const auto* number = std::get_if<double>(&parameter.default_value)) {
    auto* spin = new QDoubleSpinBox;
    spin->setDecimals(4);
    spin->setRange(std::max(least, -1e9), std::min(most, 1e9));
    spin->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    spin->setValue(*number);
    return spin;
  }
  const std::string word = to_string(parameter.default_value);
  if (parameter.choices.empty()) return new QLineEdit(QString::fromStdString(word));
  auto* combo = new QComboBox;
  for (const std::string& one : parameter.words) combo->addItem(QString::fromStdString(one));
  for (const std::string& choice : parameter.choices)
    combo->addItem(QString::fromStdString(choice));
  combo->setCurrentText(QString::fromStdString(word));
  return combo;
}

ParameterValue value_of(const QWidget* editor) {
  if (const auto* check = qobject_cast<const QCheckBox*>(editor)) return check->isChecked();
  if (const auto* spin = qobject_cast<const QSpinBox*>(editor)) {
    const QString word = spin->specialValueText();
    if (!word.isEmpty() && spin->value() == spin->minimum()) return word.toStdString();
    return static_cast<std::int64_t>(spin->value());
  }
  if (const auto* spin = qobject_cast<const QDoubleSpinBox*>(editor)) return spin->value();
  if (const auto* combo = qobject_cast<const QComboBox*>(editor)) {
    return combo->currentText().toStdString();
  }
  return qobject_cast<const QLineEdit*>(editor)->text().toStdString();
}

}  // namespace

OverlayDialog::OverlayDialog(const Subject& subject, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Overlay a mechanism"));
  setMinimumWidth(460);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(10);
  auto* title = new QLabel(QString::fromStdString(subject.label));
  title->setProperty("role", "heading");
  column->addWidget(title);
  auto* explanation = new QLabel(
      tr("The same weights run with another mechanism. They were not trained for it: what "
         "is shown is the mechanism, not a model trained with it."));
  explanation->setWordWrap(true);
  explanation->setProperty("role", "muted");
  column->addWidget(explanation);

  name_ = new QComboBox;
  name_->setObjectName("mechanism");
  name_->setAccessibleName(tr("Mechanism"));
  for (const MechanismEntry& entry : mechanisms())
    name_->addItem(QString::fromUtf8(entry.title), QString::fromUtf8(entry.name));
  // The first mechanism other than the model's own is preselected.
  for (int i = 0; i < name_->count(); ++i) {
    if (name_->itemData(i).toString().toStdString() != subject.mechanism.name) {
      name_->setCurrentIndex(i);
      break;
    }
  }
  source_ = new QLabel;
  source_->setProperty("role", "muted");
  source_->setWordWrap(true);
  parameters_ = new QFormLayout;
  parameters_->setVerticalSpacing(8);
  parameters_->setHorizontalSpacing(16);
  column->addWidget(name_);
  column->addWidget(source_);
  column->addLayout(parameters_);
  column->addStretch(1);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Add overlay"));
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(name_, &QComboBox::currentIndexChanged, this, &OverlayDialog::show_parameters);
  show_parameters();
}

void OverlayDialog::show_parameters() {
  while (parameters_->rowCount() > 0) parameters_->removeRow(0);
  editors_.clear();
  const MechanismEntry& entry = find_mechanism(name_->currentData().toString().toStdString());
  source_->setText(QString::fromUtf8(entry.source));
  for (const ParameterDescription& parameter : entry.parameters) {
    QWidget* editor = make_editor(parameter);
    editor->setObjectName(QString::fromStdString("parameter_" + parameter.name));
    editor->setToolTip(QString::fromUtf8(parameter.explanation));
    editor->setAccessibleName(QString::fromUtf8(parameter.name));
    parameters_->addRow(QString::fromUtf8(parameter.name).replace('_', ' '), editor);
    editors_[parameter.name] = editor;
  }
}

MechanismChoice OverlayDialog::mechanism() const {
  MechanismChoice choice;
  choice.name = name_->currentData().toString().toStdString();
  for (const auto& [name, editor] : editors_) choice.parameters[name] = value_of(editor);
  return choice;
}

}  // namespace attnscope
