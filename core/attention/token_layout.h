// Positions of tokens: on a grid, in a text, or in a prefix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

/// A rectangle of cells.
struct CellBlock {
  std::int64_t row = 0, column = 0, rows = 1, columns = 1;
};

/// Tokens that lie on a grid: one after the other in row-major order, or tile by tile. Others may
/// stand for the same picture at a smaller size.
struct TokenCells {
  std::int64_t first = 0;              ///< index of the first of all
  std::int64_t rows = 0, columns = 0;  ///< 0 × 0: there are none
  /// First token of each tile of a picture that is cut into equal tiles, in row-major order and
  /// ascending; within a tile tokens follow each other in row-major order. Empty: no tiles.
  std::vector<std::int64_t> tiles = {};
  std::int64_t tiles_across = 1;  ///< number of tiles in a row of them
  /// With tiles: first of the tokens for the whole picture at a smaller size, one after the other,
  /// before or after all tiles. Each covers the cells and parts of cells in its place.
  std::int64_t overview = 0;
  std::int64_t overview_rows = 0, overview_columns = 0;  ///< 0 × 0: there are no such tokens

  /// Number of cells; without tiles of tokens, too.
  [[nodiscard]] std::int64_t count() const { return rows * columns; }
  [[nodiscard]] std::int64_t tiles_down() const {
    return tiles.empty() ? 1 : std::ssize(tiles) / tiles_across;
  }
  /// Number of cells, and of tokens, of one tile.
  [[nodiscard]] std::int64_t tile_size() const {
    return count() / (tiles.empty() ? 1 : std::ssize(tiles));
  }
  /// Number of tokens for the whole picture.
  [[nodiscard]] std::int64_t overview_count() const { return overview_rows * overview_columns; }
  [[nodiscard]] bool is_of_overview(std::int64_t index) const {
    return index >= overview && index < overview + overview_count();
  }
  /// One past the last token.
  [[nodiscard]] std::int64_t end() const {
    if (tiles.empty()) return first + count();
    return std::max(tiles.back() + tile_size(), overview + overview_count());
  }
  [[nodiscard]] bool contains(std::int64_t index) const { return block_of(index).has_value(); }
  /// The cells that token `index` stands for, if any; of the overview also those that it covers in
  /// part.
  [[nodiscard]] std::optional<CellBlock> block_of(std::int64_t index) const;
  /// The token of a cell, which is not one of the overview's.
  [[nodiscard]] std::int64_t token_at(std::int64_t row, std::int64_t column) const;
  /// All tokens, ascending.
  [[nodiscard]] std::vector<std::int64_t> tokens() const;
  /// Weights of the cells, row-major: of each cell's token, and of the overview's tokens, spread
  /// evenly over their places.
  [[nodiscard]] std::vector<double> spread(
      const std::function<double(std::int64_t token)>& weight) const;
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
  /// Tokens that stand for each picture in a text, none of them empty, one after the other.
  std::vector<TokenCells> pictures = {};

  [[nodiscard]] bool is_text() const { return !texts.empty(); }
  [[nodiscard]] bool has_grid() const { return rows > 0 && columns > 0; }
  /// True if the prefix and the grid together have `tokens` tokens.
  [[nodiscard]] bool is_grid_of(std::int64_t tokens) const {
    return has_grid() && prefix + rows * columns == tokens;
  }
  /// Number of the grids of cells: 1 for a grid, in a text the number of its pictures.
  [[nodiscard]] std::int64_t cell_grids() const { return has_grid() ? 1 : std::ssize(pictures); }
  /// The tokens of the grid, or of a picture in a text, from 0; none if there is no such picture.
  [[nodiscard]] TokenCells cells(std::int64_t picture = 0) const {
    if (picture < 0 || picture >= cell_grids()) return {};
    return has_grid() ? TokenCells{.first = prefix, .rows = rows, .columns = columns}
                      : pictures[static_cast<std::size_t>(picture)];
  }
  /// These cells if `tokens` tokens hold them, and nothing but the prefix besides unless it is a
  /// text; otherwise none.
  [[nodiscard]] TokenCells cells_of(std::int64_t tokens, std::int64_t picture = 0) const {
    const TokenCells all = cells(picture);
    const bool fits = is_grid_of(tokens) || (!has_grid() && all.end() <= tokens);
    return fits ? all : TokenCells{};
  }
  /// The number, from 0, of the picture or grid with cells that token `index` stands for.
  [[nodiscard]] std::optional<std::int64_t> picture_of(std::int64_t index) const;
  /// True if the token stands for a part of a picture in a text.
  [[nodiscard]] bool is_of_picture(std::int64_t index) const {
    return !has_grid() && picture_of(index).has_value();
  }
  /// Name of token `index`: "class", "distillation", "prefix 2", "register 0", "(row, column)", for
  /// several cells "(0–2, 4–7)", of several pictures "picture 2 (row, column)", the token's text,
  /// or the index.
  [[nodiscard]] std::string name(std::int64_t index) const;
};

/// A token's text with every byte visible: ␣ for a space, ↵ for a line feed, ⇥ for a tab, \xE2 for
/// a control character or a byte that is not part of a whole character.
[[nodiscard]] std::string visible_text(const std::string& token);

}  // namespace attnscope
