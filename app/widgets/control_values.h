// Values of a panel's controls by object name, as session files keep them.
#pragma once

#include <map>
#include <string>

class QWidget;

namespace attnscope {

using ControlValues = std::map<std::string, std::string>;

/// Object name → value of every list, number, switch and line edit inside `root` that has an object
/// name; the second control of one name gets the suffix " 2". Labels are not part of it, so they
/// can be reworded; renaming a control changes the format of session files.
[[nodiscard]] ControlValues control_values(const QWidget& root);

/// Sets the controls like a user would, which makes the panel react. Values without a control, or
/// not possible here, are ignored.
void set_control_values(QWidget& root, const ControlValues& values);

}  // namespace attnscope
