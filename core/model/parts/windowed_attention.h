// Attention within windows of a grid, one window after another, as if each were an input of its own
// (Twins-SVT).
#pragma once

#include <vector>

#include "core/architecture/pyramid_grid.h"
#include "core/attention/mechanism.h"

namespace attnscope {

/// The tokens of a grid of windows of `side` × `side`, window after window: old row of each new
/// row.
[[nodiscard]] std::vector<std::int64_t> window_order(const GridExtents& grid, std::int64_t side);

/// Refers to `mechanism`, and to what `input` points at.
class WindowedAttention {
 public:
  /// `input`: of the whole grid; windows of `side` × `side`.
  WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                    const GridExtents& grid, std::int64_t side);

  /// Of the whole map: blocks of different rows and columns add up.
  [[nodiscard]] std::int64_t rank_bound() const;
  /// [N, H·dv] in the tokens' own order.
  [[nodiscard]] Tensor forward() const;
  /// [H, N, N] in the tokens' own order, zero outside the windows.
  [[nodiscard]] Tensor implied_map() const;

 private:
  [[nodiscard]] AttentionInput window(std::int64_t index) const;
  [[nodiscard]] std::int64_t windows() const { return queries_.extent(0) / tokens_; }

  const Mechanism& mechanism_;
  AttentionInput whole_;
  std::vector<std::int64_t> order_;
  std::int64_t tokens_;             // of one window
  TokenLayout layout_;              // of one window
  Tensor queries_, keys_, values_;  // window after window
};

}  // namespace attnscope
