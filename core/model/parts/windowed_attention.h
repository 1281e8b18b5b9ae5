// Attention within windows of a grid, one window after another, as if each were an input of its own
// (Swin, Twins-SVT, SAM).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/model/parts/grid_windows.h"
#include "core/trace/implied_maps.h"

namespace attnscope {

/// Query, key and value [1, ·] of the cells that fill windows up; empty where none do.
struct FillingRows {
  Tensor query, key, value;
};

/// What is added to the scores of one window, of its queries [n, H·d]; may be empty.
using WindowTerms =
    std::function<ScoreTerms(const ConstMatrixMap& queries, const GridExtents& window)>;

/// Refers to `mechanism`, and to what `input` points at.
class WindowedAttention {
 public:
  /// `input`: of the whole grid, its terms left out; each token in one of the windows. What fills
  /// them up attends and is attended to as the others are, but is in neither output nor map: rows
  /// of the map lack the weight that goes there.
  WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                    std::vector<GridWindow> windows, FillingRows filling = {},
                    WindowTerms terms = {});

  /// Of the whole map: blocks of different rows and columns add up.
  [[nodiscard]] std::int64_t rank_bound() const;
  /// Whether zeros fill windows up: the maps do not say all that comes out then.
  [[nodiscard]] bool is_filled() const;
  /// The tokens of each window, without what fills it up.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> tokens_by_window() const;
  /// [N, H·dv] in the tokens' own order.
  [[nodiscard]] Tensor forward() const;
  /// The same, and the maps: one block a window.
  [[nodiscard]] std::pair<Tensor, MapBlocks> forward_with_map() const;

 private:
  /// Calls work(input of the window, its index) for every window, in parallel.
  template <class Work>
  void for_each_window(const Work& work) const;
  [[nodiscard]] Tensor empty_output() const;
  /// The rows of window `index`'s tokens.
  void place(const Tensor& part, std::size_t index, Tensor& output) const;

  const Mechanism& mechanism_;
  AttentionInput whole_;
  std::vector<GridWindow> windows_;
  FillingRows filling_;
  WindowTerms terms_;
};

}  // namespace attnscope
