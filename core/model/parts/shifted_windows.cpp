#include "core/model/parts/shifted_windows.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope {

namespace {

/// A token's window along one axis, and its place there.
struct WindowPlace {
  std::int64_t window, place;
};

/// Of each cell along an axis. Shifted windows are those of the axis turned by half a window; the
/// one that then holds both ends is two.
std::vector<WindowPlace> window_places(std::int64_t cells, std::int64_t window, bool shifted) {
  const std::int64_t shift = shifted && window < cells ? window / 2 : 0;
  std::vector<WindowPlace> places;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int64_t turned = (cell + cells - shift) % cells;
    const bool from_the_start = turned >= cells - shift;
    places.push_back({2 * (turned / window) + (from_the_start ? 1 : 0), turned % window});
  }
  return places;
}

struct Windows {
  std::vector<WindowPlace> rows, columns;
  std::int64_t side = 1;
  Tensor biases;  ///< [H, (2·side − 1)²]
};

}  // namespace

std::function<void(std::int64_t, std::int64_t, std::span<float>)> window_bias(
    const Tensor& table, const TokenLayout& layout, std::int64_t window, bool shifted) {
  const std::int64_t across = 2 * window - 1, heads = table.extent(1);
  if (table.extent(0) != across * across || layout.prefix != 0 || layout.rows % window != 0 ||
      layout.columns % window != 0) {
    throw Error(ErrorKind::damaged, "the windows do not fit the grid and their table")
        .expected(std::to_string(across * across) + " rows, and a grid of whole windows of " +
                  std::to_string(window))
        .found(std::to_string(table.extent(0)) + " rows, " + std::to_string(layout.rows) + " × " +
               std::to_string(layout.columns) + " patches");
  }
  auto windows = std::make_shared<Windows>();
  windows->rows = window_places(layout.rows, window, shifted);
  windows->columns = window_places(layout.columns, window, shifted);
  windows->side = window;
  windows->biases = Tensor({heads, across * across});
  windows->biases.matrix() = table.matrix().transpose();
  return [windows](std::int64_t head, std::int64_t query, std::span<float> scores) {
    const auto columns = std::ssize(windows->columns);
    const std::int64_t side = windows->side, across_side = 2 * side - 1;
    const float* const biases = windows->biases.data() + head * across_side * across_side;
    const auto at = [](const std::vector<WindowPlace>& places, std::int64_t cell) {
      return places[static_cast<std::size_t>(cell)];
    };
    const WindowPlace row = at(windows->rows, query / columns);
    const WindowPlace column = at(windows->columns, query % columns);
    for (std::int64_t key = 0; key < std::ssize(scores); ++key) {
      const WindowPlace key_row = at(windows->rows, key / columns);
      const WindowPlace key_column = at(windows->columns, key % columns);
      float& score = scores[static_cast<std::size_t>(key)];
      if (key_row.window != row.window || key_column.window != column.window) {
        score = -std::numeric_limits<float>::infinity();
        continue;
      }
      const std::int64_t down = row.place - key_row.place + side - 1;
      const std::int64_t right = column.place - key_column.place + side - 1;
      score += biases[down * across_side + right];
    }
  };
}

}  // namespace attnscope
