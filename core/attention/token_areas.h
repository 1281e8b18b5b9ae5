// Groups of neighbouring tokens whose means stand for all tokens: agents, and landmarks of SOFT and
// Nyströmformer.
#pragma once

#include <cstdint>
#include <string>

#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// `down` × `across` areas of a grid of tokens after a prefix, which is one row for a sequence.
/// They are those of PyTorch's AdaptiveAvgPool2d: areas overlap if their number does not divide a
/// side.
struct TokenAreas {
  /// `count` areas of `tokens` tokens: a square on the grid of `layout`, else parts of the
  /// sequence. Throws Error(usage) for a grid and a number that is no square, which `setting` of
  /// `mechanism` is. `layout` may be null.
  TokenAreas(const TokenLayout* layout, std::int64_t tokens, std::int64_t count,
             const std::string& mechanism, const std::string& setting);

  [[nodiscard]] std::int64_t count() const { return down * across; }
  /// The means [k, d] of the areas of rows [N, d].
  [[nodiscard]] MatrixD means(const MatrixD& rows) const;
  /// Adds the gradients of the rows, given those of their means.
  void add_gradients(const MatrixD& d_means, StridedMatrixMap d_rows) const;

  std::int64_t prefix = 0, rows = 1, columns = 0;
  std::int64_t down = 1, across = 1;

 private:
  /// Calls act(first token, number of tokens) for every row of area `area`, and returns the number
  /// of its tokens.
  template <class Act>
  std::int64_t each_row(std::int64_t area, const Act& act) const;
};

/// The means of `count` segments of the rows, of which the last may be a row longer.
[[nodiscard]] MatrixD segment_means(const MatrixD& rows, std::int64_t count);

/// Adds the gradients of the rows, given those of their segment_means.
void add_segment_gradients(const MatrixD& d_means, StridedMatrixMap d_rows);

}  // namespace attnscope
