#include "core/model/parts/windowed_attention.h"

#include <tbb/parallel_for.h>

namespace attnscope {

namespace {

Tensor rows_in_order(const ConstMatrixMap& rows, const std::vector<std::int64_t>& order) {
  Tensor ordered({rows.rows(), rows.cols()});
  for (std::size_t i = 0; i < order.size(); ++i) {
    ordered.matrix().row(static_cast<std::int64_t>(i)) = rows.row(order[i]);
  }
  return ordered;
}

}  // namespace

std::vector<std::int64_t> window_order(const GridExtents& grid, std::int64_t side) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(grid.tokens()));
  for (std::int64_t top = 0; top < grid.rows; top += side) {
    for (std::int64_t left = 0; left < grid.columns; left += side) {
      for (std::int64_t cell = 0; cell < side * side; ++cell) {
        order.push_back((top + cell / side) * grid.columns + left + cell % side);
      }
    }
  }
  return order;
}

WindowedAttention::WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                                     const GridExtents& grid, std::int64_t side)
    : mechanism_(mechanism),
      whole_(input),
      order_(window_order(grid, side)),
      tokens_(side * side),
      layout_{.prefix = 0, .rows = side, .columns = side},
      queries_(rows_in_order(input.queries, order_)),
      keys_(rows_in_order(input.keys, order_)),
      values_(rows_in_order(input.values, order_)) {}

AttentionInput WindowedAttention::window(std::int64_t index) const {
  const auto part = [&](const Tensor& all) {
    const std::int64_t width = all.extent(1);
    return ConstMatrixMap(all.data() + index * tokens_ * width, tokens_, width);
  };
  return {.queries = part(queries_),
          .keys = part(keys_),
          .values = part(values_),
          .heads = whole_.heads,
          .parameters = whole_.parameters,
          .layout = &layout_,
          .layer = whole_.layer,
          .channel = whole_.channel,
          .scale = whole_.scale};
}

std::int64_t WindowedAttention::rank_bound() const {
  AttentionShape one = whole_.shape();
  one.queries = one.keys = tokens_;
  return windows() * mechanism_.structure(one).rank_bound;
}

Tensor WindowedAttention::forward() const {
  Tensor output({values_.extent(0), values_.extent(1)});
  tbb::parallel_for(std::int64_t{0}, windows(), [&](std::int64_t index) {
    const Tensor part = mechanism_.forward(window(index));
    for (std::int64_t i = 0; i < tokens_; ++i) {
      output.matrix().row(order_[static_cast<std::size_t>(index * tokens_ + i)]) =
          part.matrix().row(i);
    }
  });
  return output;
}

Tensor WindowedAttention::implied_map() const {
  const std::int64_t all = queries_.extent(0);
  Tensor map({whole_.heads, all, all});
  tbb::parallel_for(std::int64_t{0}, windows(), [&](std::int64_t index) {
    const Tensor part = mechanism_.implied_map(window(index));
    const std::int64_t* const places = order_.data() + index * tokens_;
    for (std::int64_t head = 0; head < whole_.heads; ++head) {
      for (std::int64_t i = 0; i < tokens_; ++i) {
        float* const row = map.data() + (head * all + places[i]) * all;
        for (std::int64_t j = 0; j < tokens_; ++j) row[places[j]] = part.slice(head)(i, j);
      }
    }
  });
  return map;
}

}  // namespace attnscope
