// A map as an operator: products with it in double, whatever its entries' type, on all cores.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/trace/implied_maps.h"

namespace attnscope {

using ConstMatrixDMap = Eigen::Map<const MatrixD>;

/// map + shift · I, or its transpose if it has more columns than rows: `columns` is the smaller
/// extent. The map is not copied; one that is held nowhere is computed anew, a few rows at a time,
/// for each product. Results do not depend on the thread count.
class MapOperator {
 public:
  MapOperator(const ConstMatrixMap& map, double shift);
  MapOperator(const ConstMatrixDMap& map, double shift);
  /// Of one head; the maps must live as long.
  MapOperator(const ImpliedMaps& maps, std::int64_t head, double shift);

  [[nodiscard]] std::int64_t rows() const { return flipped_ ? map_columns_ : map_rows_; }
  [[nodiscard]] std::int64_t columns() const { return flipped_ ? map_rows_ : map_columns_; }

  /// H x, [rows, k] for x [columns, k].
  [[nodiscard]] MatrixD times(const MatrixD& x) const;
  /// Hᵀ y, [columns, k] for y [rows, k].
  [[nodiscard]] MatrixD times_transposed(const MatrixD& y) const;

  /// The same to the rounding of float32, twice as fast and more: for estimates.
  [[nodiscard]] MatrixD times_roughly(const MatrixD& x) const;
  [[nodiscard]] MatrixD times_transposed_roughly(const MatrixD& y) const;

  /// What one pass over the entries tells.
  struct Facts {
    std::int64_t not_finite_entries = 0;
    std::int64_t zero_rows = 0;  ///< of the map as it was given, with its shift
    double squares = 0;          ///< ‖H‖²_F
    double asymmetry = 0;  ///< ‖H − Hᵀ‖_F; 0 if it is not square, NaN (not known) if it is computed
  };
  [[nodiscard]] Facts facts() const;

 private:
  [[nodiscard]] double asymmetry() const;
  [[nodiscard]] MatrixD by_rows(const MatrixD& x) const;
  [[nodiscard]] MatrixD by_columns(const MatrixD& y) const;
  [[nodiscard]] MatrixD by_rows_roughly(const MatrixD& x) const;
  [[nodiscard]] MatrixD by_columns_roughly(const MatrixD& y) const;

  /// `use(part, stride, column, columns)` for each block of columns of rows [first, first + rows),
  /// from left to right: entries of the block in double, their rows `stride` apart.
  template <class Use>
  void for_blocks(Eigen::Index first, Eigen::Index rows, std::vector<double>& buffer,
                  Use&& use) const;

  /// Rows [row, row + rows) of a map in float32, where they stand or computed in `band`.
  const float* float_rows(Eigen::Index row, Eigen::Index rows, std::vector<float>& band) const;

  const float* floats_ = nullptr;  ///< the map's entries, of one type or the other
  const double* doubles_ = nullptr;
  const ImpliedMaps* maps_ = nullptr;  ///< or what they are computed by
  std::int64_t head_ = 0;
  Eigen::Index map_rows_, map_columns_;
  double shift_;
  bool flipped_;
};

}  // namespace attnscope
