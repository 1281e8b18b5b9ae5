// Rank and distance from rank one per layer, for attention maps and for the tokens they mix (Dong,
// Cordonnier & Loukas 2021).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Distance of a matrix X from the nearest matrix with equal rows, relative to X: res(X) = X − 1xᵀ,
/// where x is the mean of the rows (Dong et al. 2021, Section 2).
struct RankOneResidual {
  double frobenius = 0;  ///< ‖res(X)‖_F / ‖X‖_F, 0 to 1
  /// √(‖res‖_1 ‖res‖_∞) / √(‖X‖_1 ‖X‖_∞), the paper's norm; NaN if only factors are known.
  double composite = 0;
};

/// Residual of a matrix that is not all zero.
[[nodiscard]] RankOneResidual rank_one_residual(const MatrixD& matrix);
/// Residual of left · rightᵀ, without forming the product; `composite` is NaN.
[[nodiscard]] RankOneResidual rank_one_residual(const MatrixD& left, const MatrixD& right);

/// Spectrum and residual of one head's map.
struct MapDepth {
  MapSpectrum spectrum;
  RankOneResidual residual;  ///< both 0 unless the spectrum is ready
};

/// Spectrum and residual of all token vectors [N, D] at one depth.
struct TokenDepth {
  std::int64_t layer = 0;  ///< tokens after this layer; −1: before the first layer
  MapSpectrum spectrum;
  RankOneResidual residual;
};

struct RankOverDepth {
  std::vector<MapDepth> maps;      ///< in order of layer and head
  std::vector<TokenDepth> tokens;  ///< in order of depth; empty if none were recorded
};

/// `known`: spectra of the trace's maps as spectra_of returns them, if already computed. Throws
/// Error(usage) if neither maps nor tokens were recorded; Cancelled.
[[nodiscard]] RankOverDepth rank_over_depth(const Trace& trace, IdentityView view,
                                            const SpectrumOptions& options = {},
                                            const Progress& progress = {},
                                            const std::vector<MapSpectrum>* known = nullptr);

}  // namespace attnscope
