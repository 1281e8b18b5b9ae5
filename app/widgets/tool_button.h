// Small buttons: with an icon character or a word, and one choice of a row of exclusive choices.
#pragma once

#include <QString>

class QToolButton;

namespace attnscope {

/// `name` is the object name; `tip` describes the action and is also the accessible name.
[[nodiscard]] QToolButton* tool_button(const QString& name, const QString& text,
                                       const QString& tip);

/// A checkable button, exclusive among its siblings, to which it is joined like a segment of a
/// switch. It is reached by Tab; `name` is the object name, under which sessions keep its state;
/// `tip` is also its accessible name. `place` is "first", "middle" or "last" and selects the
/// corners that the style rounds.
[[nodiscard]] QToolButton* segment_button(const QString& name, const QString& text,
                                          const QString& tip, const char* place);

}  // namespace attnscope
