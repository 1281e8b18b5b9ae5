// Texts whose characters are coloured by the values of their tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/attention/token_layout.h"

namespace attnscope {

/// One character of a text and the token it belongs to.
struct TextSign {
  std::string text;
  std::int64_t token = 0;
};

/// The first `tokens` tokens in lines of at most `columns` characters. Lines are broken at line
/// ends, and when full after their last space if they have one.
[[nodiscard]] std::vector<std::vector<TextSign>> text_lines(const TokenLayout& layout,
                                                            std::int64_t tokens,
                                                            std::size_t columns);

/// The first tokens of a text, one per element of `weights`, in the lines of
/// text_lines. Tokens with NaN are white.
[[nodiscard]] Panel text_heat_panel(const TokenLayout& layout, const std::vector<double>& weights,
                                    std::size_t columns, const ColourScale& scale);

/// Number of characters of `size_pt` per line in a figure of this width, next to the bar of its
/// scale.
[[nodiscard]] std::size_t signs_across(double width_mm, double size_pt);

/// Height of such a panel with its title.
[[nodiscard]] double text_heat_height_mm(const Panel& panel, double size_pt);

}  // namespace attnscope
