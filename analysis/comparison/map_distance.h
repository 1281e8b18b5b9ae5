// How far two attention maps of one size lie apart, and the spectra of two maps of any size.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Whether two maps can be compared cell by cell.
enum class MapPairState {
  compared,
  no_counterpart,  ///< the reference has no such layer or head
  different_size,  ///< only their spectra and relative ranks are compared
  not_finite,      ///< NaN or Inf in one of them: nothing is compared
  other_channels   ///< columns are channels, which other weights order and turn otherwise: only
                   ///< spectra and ranks are compared
};

/// "compared", "the reference has no such map", "maps of different size", "NaN or Inf in a map",
/// "columns are channels of other weights".
[[nodiscard]] std::string_view describe(MapPairState state);

/// A row of weights as a distribution: magnitudes |w| over their sum. A row with I, which sums to
/// 2, is halved by that; a row with negative weights (Linformer) has no distribution of its own and
/// is taken by its magnitudes, too, and counted.
struct RowDivergence {
  double bits = 0;            ///< Jensen–Shannon divergence, 0 to 1; NaN for a row of zeros
  bool has_negative = false;  ///< negative weights make up more than a millionth of a row
};
[[nodiscard]] RowDivergence row_divergence(std::span<const double> row,
                                           std::span<const double> other);

struct MapDistance {
  std::vector<double> row_divergence;  ///< of each query, in bits; NaN for rows of zeros
  double mean_divergence = 0;          ///< of the rows that have one; NaN if none
  double largest_divergence = 0;       ///< NaN if none
  std::int64_t largest_row = -1;       ///< its query
  std::int64_t rows_left_out = 0;      ///< all zero in one of the maps
  std::int64_t rows_with_negatives = 0;
  double cosine_distance = 0;  ///< 1 − ⟨A, B⟩ / (‖A‖_F ‖B‖_F), 0 to 2; NaN if one is zero
  double frobenius_distance = 0;  ///< ‖A − B‖_F
  double relative_frobenius = 0;  ///< ‖A − B‖_F / ‖B‖_F; NaN if B is zero
};

/// Of map A to the reference's map B, both [N, M] and finite. Throws Error(usage) for maps of
/// different size, naming both.
[[nodiscard]] MapDistance map_distance(const MatrixD& map, const MatrixD& reference);

/// Mean of the rows' divergences alone: what heads are matched by.
[[nodiscard]] double mean_row_divergence(const MatrixD& map, const MatrixD& reference);

/// The area between two curves of cumulative shares over relative rank:
/// ∫₀¹ |f_A(x) − f_B(x)| dx, f linear through (0, 0) and (r/N, f(r)). From 0 to 1; defined for maps
/// of different size. NaN if one curve is empty. Shares as cumulative_share gives them.
[[nodiscard]] double spectrum_distance(std::span<const double> share,
                                       std::span<const double> reference_share);

/// ‖σ(A) − σ(B)‖₂; at most ‖A − B‖_F (Mirsky 1960). NaN if their counts differ or are 0.
[[nodiscard]] double singular_value_distance(std::span<const double> values,
                                             std::span<const double> reference_values);

}  // namespace attnscope
