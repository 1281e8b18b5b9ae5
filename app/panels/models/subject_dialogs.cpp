#include "app/panels/models/subject_dialogs.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "app/panels/describe/role_editor.h"
#include "app/session/session.h"
#include "core/architecture/model_spec_json.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {

namespace {

// Options that files most often lack come first.
constexpr std::array<std::string_view, 9> kFirst = {"heads",     "activation",    "norm_position",
                                                    "norm_eps",  "patch_order",   "input_mean",
                                                    "input_std", "crop_fraction", "class_tokens"};

std::vector<const ModelOption*> in_order() {
  std::vector<const ModelOption*> ordered;
  for (const std::string_view name : kFirst) {
    for (const ModelOption& option : model_options()) {
      if (option.name == name) ordered.push_back(&option);
    }
  }
  for (const ModelOption& option : model_options()) {
    // The mechanism is changed by an overlay, and class names are too long to type.
    if (option.name == "mechanism" || option.name == "layer_mechanisms" ||
        option.name == "labels") {
      continue;
    }
    if (std::ranges::find(kFirst, option.name) == kFirst.end()) ordered.push_back(&option);
  }
  return ordered;
}

std::string text_of(const QWidget* editor) {
  if (const auto* combo = qobject_cast<const QComboBox*>(editor)) {
    return combo->currentText().toStdString();
  }
  return qobject_cast<const QLineEdit*>(editor)->text().trimmed().toStdString();
}

QString readable(std::string_view name) {
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())).replace('_', ' ');
}

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

void ask_for_name(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return;
  bool accepted = false;
  const QString name = QInputDialog::getText(
      parent, QObject::tr("Rename"),
      QObject::tr("Name in the window and in figures (empty: the default name)"), QLineEdit::Normal,
      QString::fromStdString(open->subject.label), &accepted);
  if (accepted) session.rename(subject, name.trimmed().toStdString());
}

void ask_for_options(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return;
  ModelDialog dialog(*open, parent);
  if (dialog.exec() == QDialog::Accepted) session.set_options(subject, dialog.options());
}

bool ask_for_roles(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return false;
  for (RoleEditor* const other : parent->window()->findChildren<RoleEditor*>()) other->close();
  try {
    auto* const editor =
        new RoleEditor(session, open->file, open->options, subject, parent->window());
    editor->setAttribute(Qt::WA_DeleteOnClose);
    editor->show();
    return true;
  } catch (const Error& error) {
    emit session.failed(QString::fromStdString(error.in_window()));
    return false;
  }
}

ModelDialog::ModelDialog(const OpenSubject& subject, QWidget* parent)
    : QDialog(parent), before_(subject.options) {
  setWindowTitle(tr("Model options"));
  resize(560, 620);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(10);

  auto* title = new QLabel(QString::fromStdString(subject.file.filename().string()));
  title->setProperty("role", "heading");
  column->addWidget(title);
  const Model* model = subject.subject.model.get();
  auto* explanation = new QLabel(
      model ? tr("Recognised as %1. Assumed values are marked ● with the reason; when you "
                 "change one, the model is loaded again.")
                  .arg(QString::fromStdString(model->architecture()))
            : tr("The model could not be loaded. Fill in what the file does not specify, or choose "
                 "an architecture description; it is then loaded again."));
  explanation->setWordWrap(true);
  explanation->setProperty("role", "muted");
  column->addWidget(explanation);

  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  auto* fields = new QWidget;
  auto* form = new QFormLayout(fields);
  form->setContentsMargins(0, 4, 10, 4);
  form->setVerticalSpacing(7);
  form->setHorizontalSpacing(16);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const ModelOption* option : in_order()) {
    const std::string name(option->name);
    std::string value = model ? option_text(model->spec(), option->name) : std::string();
    const auto given = before_.overrides.find(name);
    if (given != before_.overrides.end()) value = given->second;

    QWidget* editor = nullptr;
    if (!option->choices.empty()) {
      auto* combo = new QComboBox;
      if (value.empty()) combo->addItem(QString());
      for (const std::string& choice : option->choices) {
        combo->addItem(QString::fromStdString(choice));
      }
      combo->setCurrentText(QString::fromStdString(value));
      editor = combo;
    } else {
      auto* line = new QLineEdit(QString::fromStdString(value));
      if (!model) line->setPlaceholderText(tr("as the file says"));
      editor = line;
    }
    editor->setObjectName(QString::fromStdString("option_" + name));
    editor->setToolTip(QString::fromUtf8(option->explanation.data(),
                                         static_cast<qsizetype>(option->explanation.size())));
    editor->setAccessibleName(readable(option->name));

    QString reason;
    bool stated = false;
    if (model) {
      for (const Assumption& assumption : model->assumptions()) {
        if (assumption.option != name) continue;
        reason = QString::fromStdString(assumption.reason);
        stated = assumption.stated;
      }
    }
    const bool assumed = !reason.isEmpty() && !stated;
    form->addRow((assumed ? QString("● ") : QString()) + readable(option->name), editor);
    if (!reason.isEmpty()) {
      auto* why = new QLabel(assumed ? tr("Assumed: %1").arg(reason) : reason);
      if (assumed) why->setProperty("role", "warning");
      why->setWordWrap(true);
      form->addRow(QString(), why);
    }
    fields_[name] = {editor, value};
  }
  scroll->setWidget(fields);
  column->addWidget(scroll, 1);

  auto* describe = new QHBoxLayout;
  describe->addWidget(new QLabel(tr("Architecture description")));
  description_ = new QLineEdit(QString::fromStdString(before_.description.string()));
  description_->setPlaceholderText(tr("none: recognised by names and shapes"));
  description_->setAccessibleName(tr("Architecture description file"));
  auto* browse = new QPushButton(tr("Browse…"));
  describe->addWidget(description_, 1);
  describe->addWidget(browse);
  column->addLayout(describe);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Architecture description"),
                                                      QString(), tr("Descriptions (*.json)"));
    if (!file.isEmpty()) description_->setText(file);
  });

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Load again"));
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

ModelOptions ModelDialog::options() const {
  ModelOptions options = before_;
  options.description = description_->text().trimmed().toStdString();
  for (const auto& [name, field] : fields_) {
    const std::string text = text_of(field.editor);
    if (text == field.shown) continue;
    if (text.empty()) {
      options.overrides.erase(name);
    } else {
      options.overrides[name] = text;
    }
  }
  return options;
}

OverlayDialog::OverlayDialog(const Subject& subject, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Overlay a mechanism"));
  auto* column = new QVBoxLayout(this);
  // The dialog grows with the parameters of the mechanism.
  constexpr int kLeastWidth = 424;  // pixels, of the content
  column->addStrut(kLeastWidth);
  column->setSizeConstraint(QLayout::SetMinimumSize);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(10);
  auto* title = new QLabel(QString::fromStdString(subject.label));
  title->setProperty("role", "heading");
  column->addWidget(title);
  auto* explanation = new QLabel(
      tr("Runs these weights with another attention. The model was not trained for it, so judge "
         "the mechanism, not the answers."));
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
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Add"));
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
  // The rows are visible only after this call.
  QTimer::singleShot(0, this, [this] {
    layout()->activate();
    resize(width(), std::max(height(), layout()->totalHeightForWidth(width())));
  });
}

MechanismChoice OverlayDialog::mechanism() const {
  MechanismChoice choice;
  choice.name = name_->currentData().toString().toStdString();
  for (const auto& [name, editor] : editors_) choice.parameters[name] = value_of(editor);
  return choice;
}

}  // namespace attnscope
