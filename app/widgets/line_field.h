// A field for one line of text, such as a path.
#pragma once

#include <QString>

class QLineEdit;

namespace attnscope {

/// Named `name` for tests; `what` is in it, said to readers and as its tip; `hint` stands in it
/// while it is empty.
[[nodiscard]] QLineEdit* line_field(const QString& name, const QString& what, const QString& hint);

}  // namespace attnscope
