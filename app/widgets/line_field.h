// A field for one line of text, such as a path.
#pragma once

#include <QString>

class QLineEdit;

namespace attnscope {

/// `name` is the object name for tests, `what` the accessible name and tool tip, `hint` the
/// placeholder text.
[[nodiscard]] QLineEdit* line_field(const QString& name, const QString& what, const QString& hint);

}  // namespace attnscope
