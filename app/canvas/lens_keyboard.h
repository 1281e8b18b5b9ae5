// The lens without a mouse: its fields in the order of the Tab key, and what keys do to them.
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
  range_minimum,
  range_maximum,
  temperature,
  identity,
  heads,
  rank,
  rest,
  prefix_tokens
};
inline constexpr int lens_fields = 11;

/// What Lens::control calls the field; its choices are "NAME/CHOICE".
[[nodiscard]] std::string_view control_name(LensField field);

/// The next choice or a larger value (step 1), the one before or a smaller value (−1). Choices go
/// round. `range`: the one in use; `full`: of all values.
[[nodiscard]] ViewSettings stepped(const ViewSettings& view, LensField field, int step,
                                   const ValueRange& range, const ValueRange& full);

/// As Enter: numbers go back to what they are by themselves, choices on to the next.
[[nodiscard]] ViewSettings pressed(const ViewSettings& view, LensField field,
                                   const ValueRange& range, const ValueRange& full);

/// "Temperature: 1.20", for screen readers.
[[nodiscard]] QString described(const ViewSettings& view, LensField field, const ValueRange& range);

}  // namespace attnscope
