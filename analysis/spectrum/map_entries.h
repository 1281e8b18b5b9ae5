// What one look at all entries of a map in double says.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

struct MapEntries {
  std::int64_t not_finite = 0;  ///< NaN and Inf
  std::int64_t zero_rows = 0;   ///< rows of zeros
  double squares = 0;           ///< Σ a²
  double least = 0;             ///< of a map with entries, all of them finite
  double greatest = 0;          ///< as least
};

[[nodiscard]] MapEntries entries_of(const MatrixD& map);

/// ‖A − Aᵀ‖²_F of a square map; NaN of others.
[[nodiscard]] double asymmetry_of(const MatrixD& map);

}  // namespace attnscope
