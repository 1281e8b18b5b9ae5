// Spectra of maps of thousands of tokens: the leading singular values to 1e-6 σ_1, Σσ by stochastic
// Lanczos quadrature (Ubaru, Chen & Saad 2017), and an estimate of the remaining curve.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// Data of an estimated spectrum.
struct SpectrumEstimate {
  std::int64_t known = 0;     ///< number of leading values, accurate to 1e-6 σ_1 or better
  double nuclear_norm = 0;    ///< Σσ: known values plus an estimate of the rest
  double standard_error = 0;  ///< standard error of nuclear_norm
  /// Standard error of MapSpectrum::effective_rank, which is then computed from the probes instead
  /// of the estimated values; 0 if every value is known.
  double effective_rank_error = 0;
  double frobenius_norm = 0;   ///< ‖H‖_F, exact
  std::int64_t dimension = 0;  ///< min(N, M), the number of values
  /// Nodes of every random probe without the leading values: (σ, number of values near it),
  /// descending. Empty if every value is known.
  std::vector<std::vector<std::pair<double, double>>> probes;
};

/// Equivalent rank with its 95 % confidence interval; all three are equal if it is exact.
struct RankInterval {
  std::int64_t rank = 0, low = 0, high = 0;
};

/// Equivalent rank of a ready spectrum at a threshold in (0, 1].
[[nodiscard]] RankInterval rank_interval(const MapSpectrum& spectrum, double threshold);

/// Σσ of a ready spectrum.
[[nodiscard]] double nuclear_norm(const MapSpectrum& spectrum);

/// Spectrum of map + shift · I; shift must be 0 unless the map is square. Deterministic. Probes are
/// added until their standard error is below 0.3 % of Σσ, or there are 32. The resulting standard
/// error also includes the convergence error of the quadrature; not_converged if it is above 5 %.
[[nodiscard]] MapSpectrum estimated_spectrum(const ConstMatrixMap& map, double shift,
                                             const SpectrumOptions& options = {});
[[nodiscard]] MapSpectrum estimated_spectrum(const ConstMatrixDMap& map, double shift,
                                             const SpectrumOptions& options = {});
/// Spectrum of one head's map. A computed map is held in memory only if it has at most 128 MiB.
[[nodiscard]] MapSpectrum estimated_spectrum(const ImpliedMaps& maps, std::int64_t head,
                                             double shift, const SpectrumOptions& options = {});

}  // namespace attnscope
