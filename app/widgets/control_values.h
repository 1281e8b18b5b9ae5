// Values of a panel's controls by accessible name, as session files keep them.
#pragma once

#include <map>
#include <string>

class QWidget;

namespace attnscope {

using ControlValues = std::map<std::string, std::string>;

/// Name → value of every list, number, switch and line edit inside `root` that has a name; the
/// second control of one name gets the suffix " 2".
[[nodiscard]] ControlValues control_values(const QWidget& root);

/// Sets the controls like a user would, which makes the panel react. Values without a control, or
/// not possible here, are ignored.
void set_control_values(QWidget& root, const ControlValues& values);

}  // namespace attnscope
