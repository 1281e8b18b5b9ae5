// Ranges of the axes of a panel.
#pragma once

#include "analysis/figure/figure.h"

namespace attnscope {

struct AxisRange {
  double lower = 0, upper = 1;  ///< lower < upper unless the axis sets other limits
};

/// Ranges set by the axes of the panel, else computed from its data: stacked bars count with their
/// sums, cells with their full width, and y has a margin of 5 % on both sides unless cells fill the
/// panel.
struct PanelRange {
  AxisRange x, y;
};
[[nodiscard]] PanelRange range_of(const Panel& panel);

}  // namespace attnscope
