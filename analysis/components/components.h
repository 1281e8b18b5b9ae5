// Decomposition of a map into rank-one components: the keys that each one reads and the queries
// that use it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// One term σ u vᵀ of A = Σ_k σ_k u_k v_kᵀ. The sign is chosen so that Σv ≥ 0; if the sum is 0 up
/// to rounding, so that the entry of v with the greatest magnitude is positive. For matrices other
/// than maps `queries` are the rows and `keys` the columns: see rows_of and columns_of in
/// analysis/matrix/analysed_matrix.h.
struct Component {
  double value = 0;             ///< σ_k
  std::vector<double> queries;  ///< u_k [N], length 1: weights of the queries that use it
  std::vector<double> keys;     ///< v_k [M], length 1: weights of the keys that it reads
};

struct MapComponents {
  std::int64_t layer = 0, head = 0;  ///< head is kAllHeads for one matrix per layer
  bool identity = false;             ///< true if I is part of the map
  SpectrumState state = SpectrumState::ready;
  std::vector<Component> components;  ///< in descending order; at most the requested number
  double nuclear_norm = 0;            ///< Σσ over all values; NaN if not all are known
  double squares = 0;                 ///< ‖A‖²_F = Σσ² over all values

  /// σ_k / Σσ and σ_k² / Σσ²; NaN if the sum is unknown or 0.
  [[nodiscard]] double share(std::size_t component) const;
  [[nodiscard]] double share_of_squares(std::size_t component) const;
};

/// Leading `count` components of a matrix that is finite and not all zero. Values are accurate to
/// about 1e-10 σ_1. Vectors of nearly equal values are an arbitrary basis of the space they span.
[[nodiscard]] std::vector<Component> leading_components(const MatrixD& matrix, std::int64_t count);

/// Components of the matrix that `analysed` selects; place.head is kAllHeads for one matrix per
/// layer. Throws Error(usage) if the layer or head does not exist, its map was not recorded, or
/// count is below 1, and like analysed_matrix and check_view.
[[nodiscard]] MapComponents map_components(const Subject& subject, const MapIndex& place,
                                           const MatrixChoice& analysed, std::int64_t count);

/// Sum of the components, Σ_k σ_k u_k v_kᵀ: the nearest matrix of that rank.
[[nodiscard]] MatrixD sum_of(const std::vector<Component>& components);

}  // namespace attnscope
