// Spectra of maps of thousands of tokens: the leading singular values exactly, Σσ by stochastic
// Lanczos quadrature (Ubaru, Chen & Saad 2017), and the rest of the curve as it follows from both.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// What stands behind an estimated spectrum.
struct SpectrumEstimate {
  std::int64_t known = 0;      ///< leading values that are right to 1e-6 σ_1 at least
  double nuclear_norm = 0;     ///< Σσ: the known ones and an estimate of the others
  double standard_error = 0;   ///< of nuclear_norm
  double frobenius_norm = 0;   ///< exact
  std::int64_t dimension = 0;  ///< min(N, M): how many values there are
  /// Of every random probe: (σ, how many values lie about it), descending; the leading left out.
  /// No probes where every value is known.
  std::vector<std::vector<std::pair<double, double>>> probes;
};

/// An equivalent rank and where it lies with 95 % confidence; all the same if it is exact.
struct RankInterval {
  std::int64_t rank = 0, low = 0, high = 0;
};

/// The equivalent rank of a ready spectrum at any threshold in (0, 1].
[[nodiscard]] RankInterval rank_interval(const MapSpectrum& spectrum, double threshold);

/// Σσ of a ready spectrum.
[[nodiscard]] double nuclear_norm(const MapSpectrum& spectrum);

/// The spectrum of map + shift · I; shift is 0 unless the map is square. Deterministic. Probes are
/// added until what they scatter is below 0.5 % of Σσ, or there are 32; the standard error holds
/// that and how well the quadrature is known to have converged. not_converged if it is then above
/// 5 %.
[[nodiscard]] MapSpectrum estimated_spectrum(const ConstMatrixMap& map, double shift,
                                             const SpectrumOptions& options = {});
[[nodiscard]] MapSpectrum estimated_spectrum(const ConstMatrixDMap& map, double shift,
                                             const SpectrumOptions& options = {});
/// Of one head's map; of one that is held nowhere, in memory only if that is little.
[[nodiscard]] MapSpectrum estimated_spectrum(const ImpliedMaps& maps, std::int64_t head,
                                             double shift, const SpectrumOptions& options = {});

}  // namespace attnscope
