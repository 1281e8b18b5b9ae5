// Ranges of the axes of a panel, ticks chosen by recipes, and automatic ticks of axes and colour
// bars.
#pragma once

#include <cstdint>
#include <vector>

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

/// About five round numbers from 0, including `end`; end > 0.
[[nodiscard]] std::vector<Tick> ticks_up_to(double end);

/// Ticks at the fifths from 0 to 1.
[[nodiscard]] std::vector<Tick> share_ticks();

/// One tick per layer, numbered from `first`; at most about eight.
[[nodiscard]] std::vector<Tick> layer_ticks(std::int64_t layers, std::int64_t first = 0);

/// About five round numbers between two ends, at least one; lower < upper.
[[nodiscard]] std::vector<Tick> round_ticks(double lower, double upper);

/// Powers of ten between two positive ends, at most about eight; round numbers if there is only one
/// power.
[[nodiscard]] std::vector<Tick> decade_ticks(double lower, double upper);

/// The axis's own ticks that lie in its range; if it has none, round numbers or powers of ten.
[[nodiscard]] std::vector<Tick> ticks_of(const Axis& axis, double lower, double upper);

/// Ticks of a colour bar; `value` is a fraction of its length, 0 to 1 (fraction_of).
[[nodiscard]] std::vector<Tick> bar_ticks(const ColourScale& scale);

}  // namespace attnscope
