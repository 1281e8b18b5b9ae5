// Which stretch of its axes a panel shows.
#pragma once

#include "analysis/figure/figure.h"

namespace attnscope {

struct AxisRange {
  double lower = 0, upper = 1;  ///< lower < upper unless the axis says otherwise
};

/// Ranges of the axes as the panel sets them, else of its data: stacked bars count with their sums,
/// cells with their whole width, and y has a twentieth of room on both sides unless cells fill it.
struct PanelRange {
  AxisRange x, y;
};
[[nodiscard]] PanelRange range_of(const Panel& panel);

}  // namespace attnscope
