#include "app/widgets/control_values.h"

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSlider>
#include <QSpinBox>
#include <functional>

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

QString name_of(const QWidget& widget, const QString& shown = {}) {
  return widget.accessibleName().isEmpty() ? shown : widget.accessibleName();
}

/// Controls in the order of their widgets. Line edits inside a combo box or spin box are skipped.
std::map<QString, Control> controls_in(const QWidget& root) {
  std::map<QString, Control> controls;
  const auto add = [&](const QString& name, Control control) {
    if (name.isEmpty()) return;
    QString key = name;
    for (int i = 2; controls.contains(key); ++i) key = QString("%1 %2").arg(name).arg(i);
    controls.emplace(key, std::move(control));
  };
  for (QObject* child : root.findChildren<QObject*>()) {
    if (auto* list = qobject_cast<QComboBox*>(child)) {
      add(name_of(*list), {list->currentText(), [list](const QString& value) {
                             const int index = list->findText(value);
                             if (index < 0) return;
                             list->setCurrentIndex(index);
                             emit list->activated(index);  // not emitted by setCurrentIndex
                           }});
    } else if (auto* whole = qobject_cast<QSpinBox*>(child)) {
      add(name_of(*whole), control_of_number(whole));
    } else if (auto* number = qobject_cast<QDoubleSpinBox*>(child)) {
      add(name_of(*number), control_of_number(number));
    } else if (auto* slider = qobject_cast<QSlider*>(child)) {
      add(name_of(*slider), control_of_number(slider));
    } else if (auto* button = qobject_cast<QAbstractButton*>(child)) {
      if (button->isCheckable()) add(name_of(*button, button->text()), control_of_switch(button));
    } else if (auto* action = qobject_cast<QAction*>(child)) {
      const bool opens_dock = qobject_cast<const QDockWidget*>(action->parent()) != nullptr;
      if (action->isCheckable() && !opens_dock) add(action->text(), control_of_switch(action));
    } else if (auto* line = qobject_cast<QLineEdit*>(child)) {
      const QObject* owner = line->parent();
      if (!qobject_cast<const QComboBox*>(owner) && !qobject_cast<const QAbstractSpinBox*>(owner)) {
        add(name_of(*line), {line->text(), [line](const QString& value) { line->setText(value); }});
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
  const std::map<QString, Control> controls = controls_in(root);
  for (const auto& [name, value] : values) {
    const auto found = controls.find(QString::fromStdString(name));
    if (found == controls.end()) continue;
    const QString wanted = QString::fromStdString(value);
    if (found->second.value != wanted) found->second.set(wanted);
  }
}

}  // namespace attnscope
