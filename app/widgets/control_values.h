// What the controls of a panel are set to, by the names that screen readers say: kept in session
// files.
#pragma once

#include <map>
#include <string>

class QWidget;

namespace attnscope {

using ControlValues = std::map<std::string, std::string>;

/// Name → value of every list, number, switch and line of text inside `root` that has a name; a
/// second one of a name has " 2" after it.
[[nodiscard]] ControlValues control_values(const QWidget& root);

/// Sets them as a user would, so that the panel follows. What is not there, or not possible here,
/// is left as it is.
void set_control_values(QWidget& root, const ControlValues& values);

}  // namespace attnscope
