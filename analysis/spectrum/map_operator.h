// A map as an operator: products with it in double, whatever its entries' type, on all cores.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

using ConstMatrixDMap = Eigen::Map<const MatrixD>;

/// map + shift · I, or its transpose if it has more columns than rows: `columns` is the smaller
/// extent. The map is not copied. Results do not depend on the thread count.
class MapOperator {
 public:
  MapOperator(const ConstMatrixMap& map, double shift);
  MapOperator(const ConstMatrixDMap& map, double shift);

  [[nodiscard]] std::int64_t rows() const { return flipped_ ? map_columns_ : map_rows_; }
  [[nodiscard]] std::int64_t columns() const { return flipped_ ? map_rows_ : map_columns_; }

  /// H x, [rows, k] for x [columns, k].
  [[nodiscard]] MatrixD times(const MatrixD& x) const;
  /// Hᵀ y, [columns, k] for y [rows, k].
  [[nodiscard]] MatrixD times_transposed(const MatrixD& y) const;

  /// What one pass over the entries tells.
  struct Facts {
    std::int64_t not_finite_entries = 0;
    std::int64_t zero_rows = 0;  ///< of the map as it was given, with its shift
    double squares = 0;          ///< ‖H‖²_F
    double asymmetry = 0;        ///< ‖H − Hᵀ‖_F; 0 if it is not square
  };
  [[nodiscard]] Facts facts() const;

 private:
  [[nodiscard]] MatrixD by_rows(const MatrixD& x) const;
  [[nodiscard]] MatrixD by_columns(const MatrixD& y) const;

  /// Rows [first, first + count) of the map in double.
  [[nodiscard]] MatrixD entries(Eigen::Index first, Eigen::Index count) const;

  const float* floats_ = nullptr;  ///< the map's entries, of one type or the other
  const double* doubles_ = nullptr;
  Eigen::Index map_rows_, map_columns_;
  double shift_;
  bool flipped_;
};

}  // namespace attnscope
