#include "core/model/parts/windowed_attention.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <tbb/parallel_for.h>
#include <utility>

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

Tensor chosen_rows(const ConstMatrixMap& rows, const std::vector<std::int64_t>& tokens,
                   const Tensor& filling) {
  Tensor chosen({std::ssize(tokens), rows.cols()});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (tokens[i] < 0) {
      chosen.matrix().row(row) = filling.matrix().row(0);
    } else {
      chosen.matrix().row(row) = rows.row(tokens[i]);
    }
  }
  return chosen;
}

ConstMatrixMap as_map(const Tensor& tensor) { return tensor.matrix(); }

/// Indices of the cells of a window that are tokens, not padding.
std::vector<Eigen::Index> places_of_tokens(const GridWindow& window) {
  std::vector<Eigen::Index> places;
  for (std::size_t i = 0; i < window.tokens.size(); ++i) {
    if (window.tokens[i] >= 0) places.push_back(static_cast<Eigen::Index>(i));
  }
  return places;
}

}  // namespace

std::vector<GridWindow> tiled_windows(const GridExtents& grid, std::int64_t side,
                                      WindowFilling filling) {
  std::vector<Cells> rows = tiled_cells(grid.rows, side), columns = tiled_cells(grid.columns, side);
  if (filling == WindowFilling::cut) {
    std::erase(rows.back(), -1);
    std::erase(columns.back(), -1);
  }
  return products(rows, columns, grid);
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

WindowedAttention::WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                                     std::vector<GridWindow> windows, FillingRows filling,
                                     WindowTerms terms)
    : mechanism_(mechanism),
      whole_(input),
      windows_(std::move(windows)),
      filling_(std::move(filling)),
      terms_(std::move(terms)) {}

template <class Work>
void WindowedAttention::for_each_window(const Work& work) const {
  tbb::parallel_for(std::size_t{0}, windows_.size(), [&](std::size_t index) {
    const GridWindow& window = windows_[index];
    const TokenLayout layout{
        .prefix = 0, .rows = window.extents.rows, .columns = window.extents.columns};
    const Tensor queries = chosen_rows(whole_.queries, window.tokens, filling_.query);
    const Tensor keys = chosen_rows(whole_.keys, window.tokens, filling_.key);
    const Tensor values = chosen_rows(whole_.values, window.tokens, filling_.value);
    const ScoreTerms terms = terms_ ? terms_(as_map(queries), window.extents) : ScoreTerms{};
    const AttentionInput input{.queries = as_map(queries),
                               .keys = as_map(keys),
                               .values = as_map(values),
                               .heads = whole_.heads,
                               .parameters = whole_.parameters,
                               .layout = &layout,
                               .layer = whole_.layer,
                               .channel = whole_.channel,
                               .scale = whole_.scale,
                               .key_heads = whole_.key_heads,
                               .terms = terms.empty() ? nullptr : &terms};
    work(input, index);
  });
}

std::int64_t WindowedAttention::rank_bound() const {
  std::int64_t sum = 0;
  for (const GridWindow& window : windows_) {
    AttentionShape one = whole_.shape();
    one.queries = one.keys = window.extents.tokens();
    sum += std::min(mechanism_.structure(one).rank_bound, std::ssize(places_of_tokens(window)));
  }
  return sum;
}

bool WindowedAttention::is_filled() const {
  return std::ranges::any_of(windows_, [](const GridWindow& window) {
    return std::ranges::find(window.tokens, -1) != window.tokens.end();
  });
}

Tensor WindowedAttention::empty_output() const {
  return Tensor(
      {whole_.queries.rows(), whole_.values.cols() / whole_.heads_of_keys() * whole_.heads});
}

void WindowedAttention::place(const Tensor& part, std::size_t index, Tensor& output) const {
  const std::vector<std::int64_t>& tokens = windows_[index].tokens;
  for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
    const std::int64_t token = tokens[static_cast<std::size_t>(i)];
    if (token >= 0) output.matrix().row(token) = part.matrix().row(i);
  }
}

std::vector<std::vector<std::int64_t>> WindowedAttention::tokens_by_window() const {
  std::vector<std::vector<std::int64_t>> tokens;
  for (const GridWindow& window : windows_) {
    std::ranges::copy_if(window.tokens, std::back_inserter(tokens.emplace_back()),
                         [](std::int64_t token) { return token >= 0; });
  }
  return tokens;
}

Tensor WindowedAttention::forward() const {
  Tensor output = empty_output();
  for_each_window([&](const AttentionInput& input, std::size_t index) {
    place(mechanism_.forward(input), index, output);
  });
  return output;
}

std::pair<Tensor, MapBlocks> WindowedAttention::forward_with_map() const {
  Tensor output = empty_output();
  MapBlocks map(whole_.heads, tokens_by_window());
  for_each_window([&](const AttentionInput& input, std::size_t index) {
    const Attended part = mechanism_.forward_with_map(input);
    place(part.output, index, output);
    const std::vector<Eigen::Index> places = places_of_tokens(windows_[index]);
    for (std::int64_t head = 0; head < whole_.heads; ++head) {
      map.block(head, static_cast<std::int64_t>(index)) =
          part.implied_map.slice(head)(places, places);
    }
  });
  return {std::move(output), std::move(map)};
}

}  // namespace attnscope
