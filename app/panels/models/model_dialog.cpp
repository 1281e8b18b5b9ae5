#include "app/panels/models/model_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec_json.h"

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

}  // namespace

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

}  // namespace attnscope
