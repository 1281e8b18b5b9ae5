// Distances of two attention maps of equal size, and of the spectra of two maps of any size.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Outcome of pairing two maps for a cell-by-cell comparison.
enum class MapPairState {
  compared,
  no_counterpart,  ///< the reference has no such layer or head
  different_size,  ///< only spectra and relative ranks are compared
  not_finite,      ///< NaN or Inf in either map: nothing is compared
  other_channels   ///< columns are channels of different weights: only spectra and ranks are
                   ///< compared
};

/// The state in words: "compared", "the reference has no such map", "maps of different size", "NaN
/// or Inf in a map", "columns are channels of other weights".
[[nodiscard]] std::string_view describe(MapPairState state);

/// Compares rows of weights as distributions: magnitudes |w| over their sum. A row with I sums to 2
/// and is divided by that. A row with negative weights (Linformer) is not a distribution; its
/// magnitudes are used too, and it is counted.
struct RowDivergence {
  double bits = 0;            ///< Jensen–Shannon divergence, 0 to 1; NaN for a row of zeros
  bool has_negative = false;  ///< negative weights are more than a millionth of either row
};
[[nodiscard]] RowDivergence row_divergence(std::span<const double> row,
                                           std::span<const double> other);

struct MapDistance {
  std::vector<double> row_divergence;  ///< divergence per query in bits; NaN for rows of zeros
  double mean_divergence = 0;          ///< mean over rows with a divergence; NaN if there is none
  double largest_divergence = 0;       ///< NaN if no row has a divergence
  std::int64_t largest_row = -1;       ///< index of the query with the largest divergence
  std::int64_t rows_left_out = 0;      ///< number of rows that are all zero in either map
  std::int64_t rows_with_negatives = 0;
  double cosine_distance = 0;  ///< 1 − ⟨A, B⟩ / (‖A‖_F ‖B‖_F), 0 to 2; NaN if one is zero
  double frobenius_distance = 0;  ///< ‖A − B‖_F
  double relative_frobenius = 0;  ///< ‖A − B‖_F / ‖B‖_F; NaN if B is zero
};

/// Distances of a map A from the reference's map B, both [N, M] and finite. Throws Error(usage) for
/// maps of different size, naming both sizes.
[[nodiscard]] MapDistance map_distance(const MatrixD& map, const MatrixD& reference);

/// Mean of the row divergences; the cost by which heads are matched.
[[nodiscard]] double mean_row_divergence(const MatrixD& map, const MatrixD& reference);

/// Area between two curves of cumulative shares over relative rank, ∫₀¹ |f_A(x) − f_B(x)| dx, f
/// linear through (0, 0) and (r/N, f(r)). From 0 to 1; defined for maps of different size. NaN if
/// either curve is empty. The shares are those of cumulative_share.
[[nodiscard]] double spectrum_distance(std::span<const double> share,
                                       std::span<const double> reference_share);

/// ‖σ(A) − σ(B)‖₂; at most ‖A − B‖_F (Mirsky 1960). NaN if the numbers of values differ or are 0.
[[nodiscard]] double singular_value_distance(std::span<const double> values,
                                             std::span<const double> reference_values);

/// Similarity of two representations of the same tokens: linear centred kernel alignment ‖YᵀX‖_F² /
/// (‖XᵀX‖_F ‖YᵀY‖_F) of X [N, D] and Y [N, E], columns centred (Kornblith et al. 2019, Eq. 3).
/// Ranges from 0 to 1, which is reached by representations that differ by a rotation and a scale.
/// Rows are the tokens of one input. NaN if a representation is the same for every token or holds
/// NaN or Inf. Throws Error(usage) if the numbers of tokens differ.
[[nodiscard]] double linear_cka(const ConstMatrixMap& tokens, const ConstMatrixMap& reference);

}  // namespace attnscope
