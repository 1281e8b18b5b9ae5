// L1 distances between the rows of two matrices. The instruction set is chosen at run time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Rows laid out for l1_distances: panels of 32 rows (the last one has the remaining rows, rounded
/// up to a multiple of 8), column by column within a panel, padded with zeros. Keys are packed once
/// per head, weights once per model.
class PackedRows {
 public:
  static constexpr std::int64_t panel_rows = 32;

  PackedRows() = default;
  explicit PackedRows(const ConstStridedMatrixMap& rows);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }

  /// The panel [columns, panel_width] that begins at row `first_row`, a multiple of panel_rows.
  [[nodiscard]] const float* panel(std::int64_t first_row) const {
    return values_.data() + first_row * columns_;
  }
  /// Number of rows in that panel, padding included: 8, 16, 24 or 32.
  [[nodiscard]] std::int64_t panel_width(std::int64_t first_row) const;

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<float> values_;
};

/// out(i, j) = scale · Σ_c |a(i, c) − b(j, c)|. a [m, k], b [n, k], out [m, n]; rows of a and out
/// may be strided. The sum runs over c in order in float32, so the result does not depend on the
/// CPU. The relative error is at most (k + 1) · 2⁻²⁴.
void l1_distances(const ConstStridedMatrixMap& a, const PackedRows& b, float scale,
                  StridedMatrixMap out);

/// Adder linear layer: y(n, o) = −Σ_i |x(n, i) − W(o, i)| + b(o) (Adder, Eq. 4, 5). x [N, in],
/// weights [out, in] packed once per model, bias [out] or empty; returns [N, out]. Rows run in
/// parallel; the result does not depend on the thread count. Throws Error(usage) if the widths do
/// not fit.
[[nodiscard]] Tensor adder_linear(const ConstStridedMatrixMap& x, const PackedRows& weights,
                                  std::span<const float> bias = {});

}  // namespace attnscope
