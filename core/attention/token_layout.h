// Positions of tokens: on a grid, in a text, or in a prefix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// Tokens that lie on a grid, one after the other in row-major order.
struct TokenCells {
  std::int64_t first = 0;              ///< index of the first
  std::int64_t rows = 0, columns = 0;  ///< 0 × 0: there are none

  [[nodiscard]] std::int64_t count() const { return rows * columns; }
  [[nodiscard]] bool contains(std::int64_t index) const {
    return index >= first && index < first + count();
  }
  bool operator==(const TokenCells&) const = default;
};

/// Roles of tokens: prefix tokens (class, distillation, registers) first, then a grid in row-major
/// order.
struct TokenLayout {
  std::int64_t prefix = 0;
  std::int64_t rows = 0, columns = 0;   ///< 0×0 if the tokens form no grid
  std::vector<std::string> texts = {};  ///< the text of each token; empty for images
  /// Text models: tokens that stand for no text ([CLS], [SEP], <s>), in ascending order.
  std::vector<std::int64_t> special = {};
  std::int64_t registers = 0;  ///< number of registers, the last prefix tokens
  TokenCells picture = {};     ///< tokens that stand for a picture in a text

  [[nodiscard]] bool is_text() const { return !texts.empty(); }
  [[nodiscard]] bool has_grid() const { return rows > 0 && columns > 0; }
  /// True if the prefix and the grid together have `tokens` tokens.
  [[nodiscard]] bool is_grid_of(std::int64_t tokens) const {
    return has_grid() && prefix + rows * columns == tokens;
  }
  /// The tokens of the grid, or of the picture in a text.
  [[nodiscard]] TokenCells cells() const {
    return has_grid() ? TokenCells{prefix, rows, columns} : picture;
  }
  /// The cells if `tokens` tokens hold them, and nothing but the prefix besides unless it is a
  /// text; otherwise none.
  [[nodiscard]] TokenCells cells_of(std::int64_t tokens) const {
    const TokenCells all = cells();
    const bool fits = is_grid_of(tokens) || (!has_grid() && all.first + all.count() <= tokens);
    return fits ? all : TokenCells{};
  }
  /// Name of token `index`: "class", "distillation", "prefix 2", "register 0", "(row, column)", the
  /// token's text, or the index.
  [[nodiscard]] std::string name(std::int64_t index) const;
};

/// A token's text with every byte visible: ␣ for a space, ↵ for a line feed, ⇥ for a tab, \xE2 for
/// a control character or a byte that is not part of a whole character.
[[nodiscard]] std::string visible_text(const std::string& token);

}  // namespace attnscope
