// Positions of tokens: on a grid, in a text, or in a prefix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// Roles of tokens: prefix tokens (class, distillation, registers) first, then a grid in row-major
/// order. In a text with a picture the prefix are the tokens before the picture, the grid is the
/// picture's, and the other tokens follow it.
struct TokenLayout {
  std::int64_t prefix = 0;
  std::int64_t rows = 0, columns = 0;   ///< 0×0 if the tokens form no grid
  std::vector<std::string> texts = {};  ///< the text of each token; empty for images
  /// Text models: tokens that stand for no text ([CLS], [SEP], <s>), in ascending order.
  std::vector<std::int64_t> special = {};
  std::int64_t registers = 0;  ///< number of registers, the last prefix tokens

  [[nodiscard]] bool is_text() const { return !texts.empty(); }
  [[nodiscard]] bool has_grid() const { return rows > 0 && columns > 0; }
  /// True if the prefix and the grid together have `tokens` tokens.
  [[nodiscard]] bool is_grid_of(std::int64_t tokens) const {
    return has_grid() && prefix + rows * columns == tokens;
  }
  /// True if `tokens` tokens hold the prefix and the grid, and nothing else unless it is a text.
  [[nodiscard]] bool is_grid_within(std::int64_t tokens) const {
    return is_grid_of(tokens) || (has_grid() && is_text() && prefix + rows * columns <= tokens);
  }
  /// True if token `index` is a cell of the grid.
  [[nodiscard]] bool is_cell(std::int64_t index) const {
    return has_grid() && index >= prefix && index < prefix + rows * columns;
  }
  /// Name of token `index`: "class", "distillation", "prefix 2", "register 0", "(row, column)", the
  /// token's text, or the index.
  [[nodiscard]] std::string name(std::int64_t index) const;
};

/// A token's text with every byte visible: ␣ for a space, ↵ for a line feed, ⇥ for a tab, \xE2 for
/// a control character or a byte that is not part of a whole character.
[[nodiscard]] std::string visible_text(const std::string& token);

}  // namespace attnscope
