// Statistics from one pass over the entries of a map in double.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

struct MapEntries {
  std::int64_t not_finite = 0;  ///< number of NaN and Inf
  std::int64_t zero_rows = 0;   ///< number of rows of zeros
  double squares = 0;           ///< Σ a²
  double least = 0;             ///< least entry, if all are finite
  double greatest = 0;          ///< greatest entry, if all are finite
};

[[nodiscard]] MapEntries entries_of(const MatrixD& map);

/// ‖A − Aᵀ‖²_F of a square map; NaN for other maps.
[[nodiscard]] double asymmetry_of(const MatrixD& map);

/// True for a square map of at least 2 tokens that is 0 above the diagonal.
[[nodiscard]] inline bool is_causal(const MatrixD& map) {
  if (map.rows() != map.cols() || map.rows() < 2) return false;
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    if ((map.row(i).tail(map.cols() - i - 1).array() != 0).any()) return false;
  }
  return true;
}

}  // namespace attnscope
