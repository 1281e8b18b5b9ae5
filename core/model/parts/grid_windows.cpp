#include "core/model/parts/grid_windows.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// The cells of a window along one axis; −1 for zero padding.
using Cells = std::vector<std::int64_t>;

std::vector<Cells> tiled_cells(std::int64_t cells, std::int64_t side) {
  std::vector<Cells> windows;
  for (std::int64_t first = 0; first < cells; first += side) {
    Cells& window = windows.emplace_back();
    for (std::int64_t cell = first; cell < first + side; ++cell) {
      window.push_back(cell < cells ? cell : -1);
    }
  }
  return windows;
}

/// Splits the last window, which wraps around the axis, into two: one without the first `shift`
/// cells of the axis, and one with them.
std::vector<Cells> shifted_cells(std::int64_t cells, std::int64_t side, WindowFilling filling) {
  const std::int64_t shift = side / 2, whole = (cells + side - 1) / side * side;
  const auto cell_at = [&](std::int64_t place) -> std::int64_t {
    if (filling == WindowFilling::after_shift) return place < cells ? (place + shift) % cells : -1;
    const std::int64_t cell = (place + shift) % whole;
    return cell < cells ? cell : -1;
  };
  std::vector<Cells> windows;
  for (std::int64_t place = 0; place < whole; ++place) {
    if (place % side == 0 || place == whole - shift) windows.emplace_back();
    windows.back().push_back(cell_at(place));
  }
  std::erase_if(windows, [](const Cells& window) {
    return std::ranges::all_of(window, [](std::int64_t cell) { return cell < 0; });
  });
  return windows;
}

std::vector<GridWindow> products(const std::vector<Cells>& rows, const std::vector<Cells>& columns,
                                 const GridExtents& grid) {
  std::vector<GridWindow> windows;
  for (const Cells& down : rows) {
    for (const Cells& across : columns) {
      GridWindow& window = windows.emplace_back();
      window.extents = {std::ssize(down), std::ssize(across)};
      for (const std::int64_t row : down) {
        for (const std::int64_t column : across) {
          window.tokens.push_back(row < 0 || column < 0 ? -1 : row * grid.columns + column);
        }
      }
    }
  }
  return windows;
}

}  // namespace

std::vector<GridWindow> tiled_windows(const GridExtents& grid, std::int64_t side) {
  return products(tiled_cells(grid.rows, side), tiled_cells(grid.columns, side), grid);
}

std::vector<GridWindow> shifted_windows(const GridExtents& grid, std::int64_t side,
                                        WindowFilling filling) {
  const bool both = filling != WindowFilling::after_shift;
  const bool one = std::min(grid.rows, grid.columns) <= side;
  const auto cells = [&](std::int64_t extent) {
    const bool stays = extent <= side || (both && one);
    return stays ? tiled_cells(extent, side) : shifted_cells(extent, side, filling);
  };
  return products(cells(grid.rows), cells(grid.columns), grid);
}

std::function<void(std::int64_t, std::int64_t, std::span<float>)> window_bias(
    const Tensor& table, const GridExtents& window, std::int64_t side) {
  const std::int64_t across = 2 * side - 1, heads = table.extent(1);
  if (table.extent(0) != across * across || window.rows > side || window.columns > side) {
    throw Error(ErrorKind::damaged, "the table of relative positions does not fit the windows")
        .expected(std::to_string(across * across) + " rows for windows of " + std::to_string(side))
        .found(std::to_string(table.extent(0)));
  }
  const auto biases = std::make_shared<Tensor>(Shape{heads, across * across});
  biases->matrix() = table.matrix().transpose();
  return [biases, side, across, columns = window.columns](std::int64_t head, std::int64_t query,
                                                          std::span<float> scores) {
    const float* const of_head = biases->data() + head * across * across;
    for (std::int64_t key = 0; key < std::ssize(scores); ++key) {
      const std::int64_t down = query / columns - key / columns + side - 1;
      const std::int64_t right = query % columns - key % columns + side - 1;
      scores[static_cast<std::size_t>(key)] += of_head[down * across + right];
    }
  };
}

}  // namespace attnscope
