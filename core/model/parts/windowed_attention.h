// Attention within windows of a grid, one window after another, as if each were an input of its own
// (Twins-SVT, SAM).
#pragma once

#include <functional>
#include <vector>

#include "core/architecture/pyramid_grid.h"
#include "core/attention/mechanism.h"

namespace attnscope {

/// The tokens of a grid of windows of `side` × `side`, window after window: old row of each new
/// row; −1 where a window reaches beyond the grid.
[[nodiscard]] std::vector<std::int64_t> window_order(const GridExtents& grid, std::int64_t side);

/// Query, key and value [1, ·] of the cells that fill up the last windows; empty where none do.
struct WindowFilling {
  Tensor query, key, value;
};

/// What is added to the scores of one window, of its queries [side², H·d]; may be empty.
using WindowTerms = std::function<ScoreTerms(const ConstMatrixMap& queries)>;

/// Refers to `mechanism`, and to what `input` points at.
class WindowedAttention {
 public:
  /// `input`: of the whole grid, its terms left out; windows of `side` × `side`. What fills them up
  /// attends and is attended to as the others are, but is in neither output nor map: rows of the
  /// map lack the weight that goes there.
  WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                    const GridExtents& grid, std::int64_t side, const WindowFilling& filling = {},
                    WindowTerms terms = {});

  /// Of the whole map: blocks of different rows and columns add up.
  [[nodiscard]] std::int64_t rank_bound() const;
  /// [N, H·dv] in the tokens' own order.
  [[nodiscard]] Tensor forward() const;
  /// [H, N, N] in the tokens' own order, zero outside the windows.
  [[nodiscard]] Tensor implied_map() const;

 private:
  /// Calls work(input of the window, the old rows of its cells) for every window, in parallel.
  template <class Work>
  void for_each_window(const Work& work) const;
  [[nodiscard]] std::int64_t windows() const { return queries_.extent(0) / tokens_; }

  const Mechanism& mechanism_;
  AttentionInput whole_;
  std::vector<std::int64_t> order_;
  std::int64_t tokens_;             // of one window
  TokenLayout layout_;              // of one window
  Tensor queries_, keys_, values_;  // window after window
  WindowTerms terms_;
};

}  // namespace attnscope
