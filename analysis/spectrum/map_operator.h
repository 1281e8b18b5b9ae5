// Map as a linear operator: products in double for any type of entries, on all cores.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/trace/implied_maps.h"

namespace attnscope {

using ConstMatrixDMap = Eigen::Map<const MatrixD>;

/// H = map + shift · I, or its transpose if it has more columns than rows: `columns` is the smaller
/// dimension. The map is not copied; a computed map is computed again, a few rows at a time, for
/// each product. Results do not depend on the number of threads.
class MapOperator {
 public:
  MapOperator(const ConstMatrixMap& map, double shift);
  MapOperator(const ConstMatrixDMap& map, double shift);
  /// Operator of one head's map; `maps` must outlive it.
  MapOperator(const ImpliedMaps& maps, std::int64_t head, double shift);

  [[nodiscard]] std::int64_t rows() const { return flipped_ ? map_columns_ : map_rows_; }
  [[nodiscard]] std::int64_t columns() const { return flipped_ ? map_rows_ : map_columns_; }

  /// H x, [rows, k] for x [columns, k].
  [[nodiscard]] MatrixD times(const MatrixD& x) const;
  /// Hᵀ y, [columns, k] for y [rows, k].
  [[nodiscard]] MatrixD times_transposed(const MatrixD& y) const;

  /// H x and Hᵀ y to float32 precision, at least twice as fast: for estimates.
  [[nodiscard]] MatrixD times_roughly(const MatrixD& x) const;
  [[nodiscard]] MatrixD times_transposed_roughly(const MatrixD& y) const;

  /// Statistics from one pass over the entries.
  struct Facts {
    std::int64_t not_finite_entries = 0;
    std::int64_t zero_rows = 0;  ///< rows of zeros of the map as given, with its shift
    double squares = 0;          ///< ‖H‖²_F
    double asymmetry = 0;        ///< ‖H − Hᵀ‖_F; 0 if not square, NaN (unknown) if computed
  };
  [[nodiscard]] Facts facts() const;

 private:
  [[nodiscard]] double asymmetry() const;
  [[nodiscard]] MatrixD by_rows(const MatrixD& x) const;
  [[nodiscard]] MatrixD by_columns(const MatrixD& y) const;
  [[nodiscard]] MatrixD by_rows_roughly(const MatrixD& x) const;
  [[nodiscard]] MatrixD by_columns_roughly(const MatrixD& y) const;

  /// Calls `use(part, stride, column, columns)` for each block of columns of the rows [first, first
  /// + rows), from left to right: `part` has the entries in double, with `stride` between rows.
  template <class Use>
  void for_blocks(Eigen::Index first, Eigen::Index rows, std::vector<double>& buffer,
                  Use&& use) const;

  /// Rows [row, row + rows) of a map in float32: stored ones, or computed into `band`.
  const float* float_rows(Eigen::Index row, Eigen::Index rows, std::vector<float>& band) const;

  const float* floats_ = nullptr;  ///< stored entries in float32, or null
  const double* doubles_ = nullptr;
  const ImpliedMaps* maps_ = nullptr;  ///< computed maps, or null
  std::int64_t head_ = 0;
  Eigen::Index map_rows_, map_columns_;
  double shift_;
  bool flipped_;
};

}  // namespace attnscope
