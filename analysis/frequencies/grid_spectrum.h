// Spatial frequencies over the grid of patches: what attention lets pass, and what the tokens hold.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Choice of the frequencies (u, v), in cycles per rows and columns of a grid, that are averaged.
enum class FrequencyProfile {
  /// Rings of equal radius √((u/rows)² + (v/columns)²), one cycle of the shorter side apart.
  radius,
  diagonal  ///< u = v of a square grid, from 0 to below π, as in the code of Park & Kim (2022)
};
inline constexpr EnumName<FrequencyProfile> frequency_profile_names[] = {
    {FrequencyProfile::radius, "radius"}, {FrequencyProfile::diagonal, "diagonal"}};

/// A number of one depth by frequency.
struct FrequencyCurve {
  std::int64_t layer = 0;           ///< −1: before the first layer
  std::vector<double> frequency;    ///< ascending, in π per patch: 1 is a cycle of two patches
  std::vector<std::int64_t> cells;  ///< number of frequencies (u, v) that were averaged
  std::vector<double> value;
};

/// Mean of the curve over the frequencies from π/2 per patch on; NaN for a grid without them.
[[nodiscard]] double high_frequency_mean(const FrequencyCurve& curve);

/// F x of real columns x [R · C, n] over a grid of R × C cells, row by row: the sum over cells of x
/// e^{−2πi (u r / R + v c / C)}, at (u, v) in the order of the cells.
[[nodiscard]] Eigen::MatrixXcd transform_over_grid(const Eigen::Ref<const MatrixD>& columns,
                                                   std::int64_t grid_rows,
                                                   std::int64_t grid_columns);

/// Filter response r_k = ‖(F A)_k‖₂ of each layer's maps, F the unitary transform over the grid and
/// A [N, N] the map between patches, without class tokens and registers; mean over `heads` (all if
/// empty), then over the frequencies of the profile (Wang et al. 2022: the norm of row k of F A
/// F⁻¹). It is 1 at every frequency for the identity, and 1 at 0 and 0 elsewhere for even weights.
/// Throws Error(usage) for causal maps, tokens without a grid, keys that are other tokens than the
/// queries, layers without such a head; Cancelled.
[[nodiscard]] std::vector<FrequencyCurve> filter_responses(
    const Trace& trace, FrequencyProfile profile = FrequencyProfile::radius,
    IdentityView view = IdentityView::as_is, const std::vector<std::int64_t>& layers = {},
    const std::vector<std::int64_t>& heads = {}, const Progress& progress = {});

/// Log-amplitude of the tokens at each recorded depth: ln(abs(F x) + 1e-6), F without a factor,
/// mean over channels and over the frequencies of the profile (Park & Kim 2022, Fig. 2). Of the
/// tokens on the grid; layers that have none are left out. Throws Error(usage) if no tokens on a
/// grid were recorded.
[[nodiscard]] std::vector<FrequencyCurve> token_amplitudes(
    const Trace& trace, FrequencyProfile profile = FrequencyProfile::radius,
    const std::vector<std::int64_t>& layers = {});

}  // namespace attnscope
