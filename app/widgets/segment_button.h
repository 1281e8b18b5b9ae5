// One choice of a row of exclusive choices, joined like the segments of a switch.
#pragma once

#include <QString>

class QToolButton;

namespace attnscope {

/// Checkable, exclusive among its siblings, reached by Tab; `tip` is its accessible name too.
/// `place` is "first", "middle" or "last": which corners the style rounds.
[[nodiscard]] QToolButton* segment_button(const QString& text, const QString& tip,
                                          const char* place);

}  // namespace attnscope
