// A small button with a sign or a word on it.
#pragma once

#include <QString>

class QToolButton;

namespace attnscope {

/// Named `name` for tests; `tip` says what it does, and is its accessible name too.
[[nodiscard]] QToolButton* tool_button(const QString& name, const QString& text,
                                       const QString& tip);

}  // namespace attnscope
