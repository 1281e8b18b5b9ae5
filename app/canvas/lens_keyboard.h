// Keyboard control of the lens: its fields in Tab order, and the effect of keys on them.
#pragma once

#include <QString>
#include <string_view>

#include "app/canvas/value_range.h"
#include "app/session/selection.h"

namespace attnscope {

enum class LensField {
  colours,
  reverse,
  scale,
  range_scope,
  range_minimum,
  range_maximum,
  heads,
  prefix_tokens
};
inline constexpr int lens_fields = 8;

/// The control's name in Lens::control; its choices are "NAME/CHOICE".
[[nodiscard]] std::string_view control_name(LensField field);

/// The view with the next choice or a larger value (step 1), or the previous choice or a smaller
/// value (−1). Choices wrap around. `range`: the one in use; `full`: over all values.
[[nodiscard]] ViewSettings stepped(const ViewSettings& view, LensField field, int step,
                                   const ValueRange& range, const ValueRange& full);

/// The view after Enter: numbers are reset to their defaults, choices advance to the next.
[[nodiscard]] ViewSettings pressed(const ViewSettings& view, LensField field,
                                   const ValueRange& range, const ValueRange& full);

/// Description such as "Scale: linear", for screen readers.
[[nodiscard]] QString described(const ViewSettings& view, LensField field, const ValueRange& range);

}  // namespace attnscope
