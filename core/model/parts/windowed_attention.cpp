#include "core/model/parts/windowed_attention.h"

#include <algorithm>
#include <iterator>
#include <tbb/parallel_for.h>
#include <utility>

namespace attnscope {

namespace {

Tensor rows_of(const ConstMatrixMap& rows, const std::vector<std::int64_t>& tokens,
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
    const Tensor queries = rows_of(whole_.queries, window.tokens, filling_.query);
    const Tensor keys = rows_of(whole_.keys, window.tokens, filling_.key);
    const Tensor values = rows_of(whole_.values, window.tokens, filling_.value);
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
