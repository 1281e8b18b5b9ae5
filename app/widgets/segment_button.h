// One choice of a row of exclusive choices, joined like the segments of a switch.
#pragma once

#include <QString>

class QToolButton;

namespace attnscope {

/// A checkable button, exclusive among its siblings, reached by Tab; `tip` is also its accessible
/// name. `place` is "first", "middle" or "last" and selects the corners that the style rounds.
[[nodiscard]] QToolButton* segment_button(const QString& text, const QString& tip,
                                          const char* place);

}  // namespace attnscope
