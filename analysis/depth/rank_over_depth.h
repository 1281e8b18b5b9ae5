// Ranks and distances from rank one, layer by layer, of attention maps and of the tokens they mix
// (Dong, Cordonnier & Loukas 2021).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// How far a matrix X is from the nearest whose rows are all alike: res(X) = X − 1xᵀ with x the
/// mean of the rows (Dong et al. 2021, Section 2), as a share of X.
struct RankOneResidual {
  double frobenius = 0;  ///< ‖res(X)‖_F / ‖X‖_F, 0 to 1
  /// √(‖res‖_1 ‖res‖_∞) / √(‖X‖_1 ‖X‖_∞), the paper's norm; NaN where only factors are known.
  double composite = 0;
};

/// Of a matrix that is not all zero.
[[nodiscard]] RankOneResidual rank_one_residual(const MatrixD& matrix);
/// Of left · rightᵀ, without multiplying it out.
[[nodiscard]] RankOneResidual rank_one_residual(const MatrixD& left, const MatrixD& right);

/// One head's map.
struct MapDepth {
  MapSpectrum spectrum;
  RankOneResidual residual;  ///< both 0 unless the spectrum is ready
};

/// The representations of all tokens at one depth, [N, D].
struct TokenDepth {
  std::int64_t layer = 0;  ///< after this layer; −1: before the first
  MapSpectrum spectrum;
  RankOneResidual residual;
};

struct RankOverDepth {
  std::vector<MapDepth> maps;      ///< in order of layer and head
  std::vector<TokenDepth> tokens;  ///< in order of depth; empty if none were recorded
};

/// `known`: spectra of the trace's maps, if they are known (as spectra_of gives them). Throws
/// Error(usage) if neither maps nor tokens were recorded, and Cancelled.
[[nodiscard]] RankOverDepth rank_over_depth(const Trace& trace, IdentityView view,
                                            const SpectrumOptions& options = {},
                                            const Progress& progress = {},
                                            const std::vector<MapSpectrum>* known = nullptr);

}  // namespace attnscope
