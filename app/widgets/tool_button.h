// A small button with an icon character or a word.
#pragma once

#include <QString>

class QToolButton;

namespace attnscope {

/// `name` is the object name for tests; `tip` describes the action and is also the accessible name.
[[nodiscard]] QToolButton* tool_button(const QString& name, const QString& text,
                                       const QString& tip);

}  // namespace attnscope
