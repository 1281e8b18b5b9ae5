#include "app/widgets/control_values.h"

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSlider>
#include <QSpinBox>
#include <functional>

#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

struct Control {
  QString value;
  std::function<void(const QString& value)> set;
};

const QString kOn = "on", kOff = "off";

template <class Switch>
Control control_of_switch(Switch* control) {
  return {control->isChecked() ? kOn : kOff, [control](const QString& value) {
            // Turning one button of an exclusive group on turns the others off.
            if (value == kOn || value == kOff) control->setChecked(value == kOn);
          }};
}

template <class Number>
Control control_of_number(Number* control) {
  return {QString::number(control->value()), [control](const QString& value) {
            bool understood = false;
            const double number = value.toDouble(&understood);
            if (understood) control->setValue(static_cast<decltype(control->value())>(number));
          }};
}

Control control_of_slider(NumberSlider* control) {
  return {QString::number(control->value()), [control](const QString& value) {
            bool understood = false;
            const double number = value.toDouble(&understood);
            if (understood) control->set_value(number);
          }};
}

/// A list whose items have strings as data is kept by them, so that its texts can be reworded.
Control control_of_list(QComboBox* list) {
  const bool has_names = list->currentData().typeId() == QMetaType::QString;
  return {has_names ? list->currentData().toString() : list->currentText(),
          [list, has_names](const QString& value) {
            const int index = has_names ? list->findData(value) : list->findText(value);
            if (index < 0) {
              if (list->isEditable()) list->setEditText(value);
              return;
            }
            list->setCurrentIndex(index);
            emit list->activated(index);  // not emitted by setCurrentIndex
          }};
}

/// Named controls by their keys. Line edits inside a combo box or spin box are skipped.
std::map<QString, Control> controls_in(const QWidget& root) {
  std::map<QString, Control> controls;
  const auto add = [&](const QObject& named, Control control) {
    QString key = named.objectName();
    for (int i = 2; controls.contains(key); ++i) {
      key = QString("%1 %2").arg(named.objectName()).arg(i);
    }
    controls.emplace(key, std::move(control));
  };
  for (QObject* child : root.findChildren<QObject*>()) {
    if (child->objectName().isEmpty()) continue;
    if (auto* list = qobject_cast<QComboBox*>(child)) {
      add(*list, control_of_list(list));
    } else if (auto* combined = qobject_cast<NumberSlider*>(child)) {
      add(*combined, control_of_slider(combined));
    } else if (auto* whole = qobject_cast<QSpinBox*>(child)) {
      add(*whole, control_of_number(whole));
    } else if (auto* number = qobject_cast<QDoubleSpinBox*>(child)) {
      add(*number, control_of_number(number));
    } else if (auto* slider = qobject_cast<QSlider*>(child)) {
      add(*slider, control_of_number(slider));
    } else if (auto* button = qobject_cast<QAbstractButton*>(child)) {
      if (button->isCheckable()) add(*button, control_of_switch(button));
    } else if (auto* action = qobject_cast<QAction*>(child)) {
      if (action->isCheckable()) add(*action, control_of_switch(action));
    } else if (auto* line = qobject_cast<QLineEdit*>(child)) {
      const QObject* owner = line->parent();
      if (!qobject_cast<const QComboBox*>(owner) && !qobject_cast<const QAbstractSpinBox*>(owner)) {
        add(*line, {line->text(), [line](const QString& value) { line->setText(value); }});
      }
    }
  }
  return controls;
}

}  // namespace

ControlValues control_values(const QWidget& root) {
  ControlValues values;
  for (const auto& [name, control] : controls_in(root)) {
    values[name.toStdString()] = control.value.toStdString();
  }
  return values;
}

void set_control_values(QWidget& root, const ControlValues& values) {
  // A choice may reset or replace other controls, such as those of a lesson's page: hence two
  // rounds, in which the controls are looked up before each value.
  for (int round = 0; round < 2; ++round) {
    for (const auto& [name, value] : values) {
      const std::map<QString, Control> controls = controls_in(root);
      const auto found = controls.find(QString::fromStdString(name));
      if (found == controls.end()) continue;
      const QString wanted = QString::fromStdString(value);
      if (found->second.value != wanted) found->second.set(wanted);
    }
  }
}

}  // namespace attnscope
