#include "core/attention/token_layout.h"

#include <algorithm>

#include "core/input/text.h"

namespace attnscope {

namespace {

/// "3", or "3–5".
std::string range_text(std::int64_t first, std::int64_t count) {
  const std::string begin = std::to_string(first);
  return count == 1 ? begin : begin + "–" + std::to_string(first + count - 1);
}

/// The share of part `part` of a line of `cells` cells in `parts` equal parts that lies in a cell.
double share_in_cell(std::int64_t part, std::int64_t parts, std::int64_t cells, std::int64_t cell) {
  // In units of 1 / parts of a cell.
  const std::int64_t begin = std::max(part * cells, cell * parts);
  const std::int64_t end = std::min((part + 1) * cells, (cell + 1) * parts);
  return static_cast<double>(end - begin) / static_cast<double>(cells);
}

}  // namespace

std::optional<CellBlock> TokenCells::block_of(std::int64_t index) const {
  if (count() == 0 || index < first || index >= end()) return std::nullopt;
  if (tiles.empty()) return CellBlock{(index - first) / columns, (index - first) % columns};
  const std::int64_t down = tiles_down(), wide = columns / tiles_across;
  if (is_of_overview(index)) {
    const auto begin = [](std::int64_t part, std::int64_t parts, std::int64_t cells) {
      return part * cells / parts;
    };
    const auto end = [](std::int64_t part, std::int64_t parts, std::int64_t cells) {
      return ((part + 1) * cells + parts - 1) / parts;
    };
    const std::int64_t row = (index - overview) / overview_columns;
    const std::int64_t column = (index - overview) % overview_columns;
    CellBlock block{begin(row, overview_rows, rows), begin(column, overview_columns, columns)};
    block.rows = end(row, overview_rows, rows) - block.row;
    block.columns = end(column, overview_columns, columns) - block.column;
    return block;
  }
  const auto after = std::ranges::upper_bound(tiles, index);
  if (after == tiles.begin()) return std::nullopt;
  const std::int64_t tile = after - tiles.begin() - 1, cell = index - *(after - 1);
  if (cell >= tile_size()) return std::nullopt;
  return CellBlock{tile / tiles_across * (rows / down) + cell / wide,
                   tile % tiles_across * wide + cell % wide};
}

std::int64_t TokenCells::token_at(std::int64_t row, std::int64_t column) const {
  if (tiles.empty()) return first + row * columns + column;
  const std::int64_t high = rows / tiles_down(), wide = columns / tiles_across;
  const std::int64_t tile = row / high * tiles_across + column / wide;
  return tiles[static_cast<std::size_t>(tile)] + row % high * wide + column % wide;
}

std::vector<std::int64_t> TokenCells::tokens() const {
  std::vector<std::int64_t> all;
  for (std::int64_t token = first; token < end(); ++token) {
    if (contains(token)) all.push_back(token);
  }
  return all;
}

std::vector<double> TokenCells::spread(
    const std::function<double(std::int64_t token)>& weight) const {
  std::vector<double> cells(static_cast<std::size_t>(count()));
  for (const std::int64_t token : tokens()) {
    const CellBlock block = *block_of(token);
    const bool whole = !tiles.empty() && is_of_overview(token);
    for (std::int64_t row = block.row; row < block.row + block.rows; ++row) {
      for (std::int64_t column = block.column; column < block.column + block.columns; ++column) {
        double part = weight(token);
        if (whole) {
          const std::int64_t place = token - overview;
          part *= share_in_cell(place / overview_columns, overview_rows, rows, row) *
                  share_in_cell(place % overview_columns, overview_columns, columns, column);
        }
        cells[static_cast<std::size_t>(row * columns + column)] += part;
      }
    }
  }
  return cells;
}

std::optional<std::int64_t> TokenLayout::picture_of(std::int64_t index) const {
  if (has_grid()) return cells().contains(index) ? std::optional<std::int64_t>(0) : std::nullopt;
  const auto found = std::ranges::find_if(
      pictures, [index](const TokenCells& picture) { return picture.contains(index); });
  if (found == pictures.end()) return std::nullopt;
  return found - pictures.begin();
}

std::string TokenLayout::name(std::int64_t index) const {
  if (const auto picture = picture_of(index)) {
    const std::optional<CellBlock> block = cells(*picture).block_of(index);
    return (cell_grids() > 1 ? "picture " + std::to_string(*picture + 1) + " (" : "(") +
           range_text(block->row, block->rows) + ", " + range_text(block->column, block->columns) +
           ")";
  }
  if (index < std::ssize(texts)) {
    return visible_text(texts[static_cast<std::size_t>(index)]);
  }
  if (index < prefix) {
    const std::int64_t first_register = prefix - registers;
    if (index >= first_register) return "register " + std::to_string(index - first_register);
    if (index == 0) return "class";
    if (index == 1) return "distillation";
    return "prefix " + std::to_string(index);
  }
  return std::to_string(index);
}

std::string visible_text(const std::string& token) {
  constexpr char digits[] = "0123456789ABCDEF";
  const std::vector<std::size_t> starts = character_starts(token);
  std::string text;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string character = token.substr(starts[i], starts[i + 1] - starts[i]);
    const auto byte = static_cast<unsigned char>(character[0]);
    if (character == " ") {
      text += "␣";
    } else if (character == "\n") {
      text += "↵";
    } else if (character == "\t") {
      text += "⇥";
    } else if (byte < 32 || byte == 127 || (byte >= 128 && character.size() == 1)) {
      text += std::string("\\x") + digits[byte / 16] + digits[byte % 16];
    } else {
      text += character;
    }
  }
  return text;
}

}  // namespace attnscope
