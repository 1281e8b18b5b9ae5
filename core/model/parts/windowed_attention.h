// Attention within windows of a grid of patches, each computed like a separate input: tiles (Twins,
// SAM), and windows shifted by half their side in every other layer (Liu et al. 2021, section 3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/architecture/pyramid_grid.h"
#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"
#include "core/trace/implied_maps.h"

namespace attnscope {

/// A window of a grid, or the part of one that remains after shifting.
struct GridWindow {
  GridExtents extents;
  std::vector<std::int64_t> tokens;  ///< tokens of its cells, row by row; −1 for zero padding

  bool operator==(const GridWindow&) const = default;
};

/// Windows of `side` × `side`, zero-padded at the last edges, or smaller there if they are cut.
[[nodiscard]] std::vector<GridWindow> tiled_windows(const GridExtents& grid, std::int64_t side,
                                                    WindowFilling filling = WindowFilling::none);

/// Windows that begin side / 2 cells later; the parts cut off at the first edges are separate
/// windows. `filling` places the zeros that complete the windows. An axis with a single window is
/// not shifted, as in timm; except for WindowFilling::after_shift, the other axis is then not
/// shifted either.
[[nodiscard]] std::vector<GridWindow> shifted_windows(const GridExtents& grid, std::int64_t side,
                                                      WindowFilling filling);

/// Adds the entries of `table` [(2·side − 1)², H] for the offset of query and key in a window of
/// `window` cells, at most `side` in each direction. Throws Error(damaged) if the table does not
/// fit.
[[nodiscard]] std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)>
window_bias(const Tensor& table, const GridExtents& window, std::int64_t side);

/// Query, key and value [1, ·] of the padding cells of windows; empty if there are none.
struct FillingRows {
  Tensor query, key, value;
};

/// Score terms of one window, given its queries [n, H·d]; may be empty.
using WindowTerms =
    std::function<ScoreTerms(const ConstMatrixMap& queries, const GridExtents& window)>;

/// Keeps references to `mechanism` and to the data that `input` points to.
class WindowedAttention {
 public:
  /// `input` is that of the whole grid, without score terms; each token must be in exactly one
  /// window. Padding cells attend and are attended to like the others, but appear in neither output
  /// nor map: rows of the map lack the weight on padding.
  WindowedAttention(const Mechanism& mechanism, const AttentionInput& input,
                    std::vector<GridWindow> windows, FillingRows filling = {},
                    WindowTerms terms = {});

  /// Rank bound of the whole map, the sum over its blocks, which have disjoint rows and columns.
  [[nodiscard]] std::int64_t rank_bound() const;
  /// True if windows are zero-padded. The maps then do not determine the output completely.
  [[nodiscard]] bool is_filled() const;
  /// The tokens of each window, without padding.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> tokens_by_window() const;
  /// Output [N, H·dv] in the order of the tokens.
  [[nodiscard]] Tensor forward() const;
  /// Output as in forward, and the maps with one block per window.
  [[nodiscard]] std::pair<Tensor, MapBlocks> forward_with_map() const;

 private:
  /// Calls work(input of the window, its index) for every window, in parallel.
  template <class Work>
  void for_each_window(const Work& work) const;
  [[nodiscard]] Tensor empty_output() const;
  /// Copies the rows of window `index` from `part` to `output`.
  void place(const Tensor& part, std::size_t index, Tensor& output) const;

  const Mechanism& mechanism_;
  AttentionInput whole_;
  std::vector<GridWindow> windows_;
  FillingRows filling_;
  WindowTerms terms_;
};

}  // namespace attnscope
