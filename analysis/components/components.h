// A map as a sum of rank-one parts: which keys each component reads, and which queries use it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/analysed/analysed.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// σ u vᵀ of A = Σ_k σ_k u_k v_kᵀ. Of u, v and −u, −v, which are the same, the one with Σv ≥ 0
/// (where the sum is nothing but rounding, with the entry of v of greatest magnitude above 0). Of
/// other matrices than maps `queries` are the rows and `keys` the columns, whatever these are:
/// rows_of, columns_of (analysis/analysed/analysed.h).
struct Component {
  double value = 0;             ///< σ_k
  std::vector<double> queries;  ///< u_k [N], of length 1: which queries use it
  std::vector<double> keys;     ///< v_k [M], of length 1: which keys it reads
};

struct MapComponents {
  std::int64_t layer = 0, head = 0;  ///< kAllHeads where there is one matrix of a layer
  bool identity = false;             ///< whether I is part of the map
  SpectrumState state = SpectrumState::ready;
  std::vector<Component> components;  ///< leading first; fewer than asked for where there are fewer
  double nuclear_norm = 0;            ///< Σσ of all; NaN where not all values are known
  double squares = 0;                 ///< ‖A‖²_F = Σσ² of all

  /// σ_k / Σσ and σ_k² / Σσ²; NaN where the sum is not known.
  [[nodiscard]] double share(std::size_t component) const;
  [[nodiscard]] double share_of_squares(std::size_t component) const;
};

/// The leading `count` components of a matrix that is finite and not all zero. Values are right to
/// about 1e-10 σ_1; vectors of values that are nearly equal are any basis of what they span.
[[nodiscard]] std::vector<Component> leading_components(const MatrixD& matrix, std::int64_t count);

/// Of one recorded map as `view` sees it. Throws Error(usage): no such layer or head, its map was
/// not recorded, count below 1.
[[nodiscard]] MapComponents map_components(const Trace& trace, const RecordedMap& place,
                                           IdentityView view, std::int64_t count);

/// The same of the matrix that `analysed` says; place.head is kAllHeads where there is one of a
/// layer. Throws Error(usage) too as analysed_matrix, and where an I is asked for of what has none.
[[nodiscard]] MapComponents map_components(const Subject& subject, const RecordedMap& place,
                                           const Analysed& analysed, IdentityView view,
                                           std::int64_t count);

/// What the components add up to, Σ_k σ_k u_k v_kᵀ: the nearest matrix of that rank.
[[nodiscard]] MatrixD sum_of(const std::vector<Component>& components);

}  // namespace attnscope
