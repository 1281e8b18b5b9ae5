// A text whose characters lie on the colours of their tokens.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/attention/token_layout.h"

namespace attnscope {

/// The first tokens of a text, as many as `weights` has, in lines of at most `columns` signs: after
/// every line's end, and where a line is full, after its last space if it has one. Tokens of NaN
/// lie on white.
[[nodiscard]] Panel text_heat_panel(const TokenLayout& layout, const std::vector<double>& weights,
                                    std::size_t columns, const ColourScale& scale);

/// How many signs of `size_pt` a line of a figure so wide has, beside the bar of its scale.
[[nodiscard]] std::size_t signs_across(double width_mm, double size_pt);

/// Of such a panel with its title.
[[nodiscard]] double text_heat_height_mm(const Panel& panel, double size_pt);

}  // namespace attnscope
