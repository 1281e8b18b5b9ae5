#include "core/model/parts/windowed_attention.h"

#include <algorithm>
#include <tbb/parallel_for.h>
#include <utility>

namespace attnscope {

namespace {

Tensor rows_in_order(const ConstMatrixMap& rows, const std::vector<std::int64_t>& order,
                     const Tensor& filling) {
  Tensor ordered({std::ssize(order), rows.cols()});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (order[i] < 0) {
      ordered.matrix().row(row) = filling.matrix().row(0);
    } else {
      ordered.matrix().row(row) = rows.row(order[i]);
    }
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
        const std::int64_t row = top + cell / side, column = left + cell % side;
        const bool inside = row < grid.rows && column < grid.columns;
        order.push_back(inside ? row * grid.columns + column : -1);
      }
    }
  }
  return order;
}

WindowedAttention::WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                                     const GridExtents& grid, std::int64_t side,
                                     const WindowFilling& filling, WindowTerms terms)
    : mechanism_(mechanism),
      whole_(input),
      order_(window_order(grid, side)),
      tokens_(side * side),
      layout_{.prefix = 0, .rows = side, .columns = side},
      queries_(rows_in_order(input.queries, order_, filling.query)),
      keys_(rows_in_order(input.keys, order_, filling.key)),
      values_(rows_in_order(input.values, order_, filling.value)),
      terms_(std::move(terms)) {}

template <class Work>
void WindowedAttention::for_each_window(const Work& work) const {
  tbb::parallel_for(std::int64_t{0}, windows(), [&](std::int64_t index) {
    const auto part = [&](const Tensor& all) {
      const std::int64_t width = all.extent(1);
      return ConstMatrixMap(all.data() + index * tokens_ * width, tokens_, width);
    };
    const ScoreTerms terms = terms_ ? terms_(part(queries_)) : ScoreTerms{};
    const AttentionInput window{.queries = part(queries_),
                                .keys = part(keys_),
                                .values = part(values_),
                                .heads = whole_.heads,
                                .parameters = whole_.parameters,
                                .layout = &layout_,
                                .layer = whole_.layer,
                                .channel = whole_.channel,
                                .scale = whole_.scale,
                                .key_heads = whole_.key_heads,
                                .terms = terms.empty() ? nullptr : &terms};
    work(window, order_.data() + index * tokens_);
  });
}

std::int64_t WindowedAttention::rank_bound() const {
  AttentionShape one = whole_.shape();
  one.queries = one.keys = tokens_;
  const std::int64_t bound = mechanism_.structure(one).rank_bound;
  std::int64_t sum = 0;
  for (auto first = order_.begin(); first != order_.end(); first += tokens_) {
    sum += std::min(bound, tokens_ - std::count(first, first + tokens_, -1));
  }
  return sum;
}

Tensor WindowedAttention::forward() const {
  Tensor output({whole_.queries.rows(), values_.extent(1) / whole_.heads_of_keys() * whole_.heads});
  for_each_window([&](const AttentionInput& window, const std::int64_t* places) {
    const Tensor part = mechanism_.forward(window);
    for (std::int64_t i = 0; i < tokens_; ++i) {
      if (places[i] >= 0) output.matrix().row(places[i]) = part.matrix().row(i);
    }
  });
  return output;
}

Tensor WindowedAttention::implied_map() const {
  const std::int64_t all = whole_.queries.rows();
  Tensor map({whole_.heads, all, all});
  for_each_window([&](const AttentionInput& window, const std::int64_t* places) {
    const Tensor part = mechanism_.implied_map(window);
    for (std::int64_t head = 0; head < whole_.heads; ++head) {
      for (std::int64_t i = 0; i < tokens_; ++i) {
        if (places[i] < 0) continue;
        float* const row = map.data() + (head * all + places[i]) * all;
        for (std::int64_t j = 0; j < tokens_; ++j) {
          if (places[j] >= 0) row[places[j]] = part.slice(head)(i, j);
        }
      }
    }
  });
  return map;
}

}  // namespace attnscope
