// Spectra of maps of thousands of tokens: the leading singular values to 1e-6 σ_1, Σσ by stochastic
// Lanczos quadrature (Ubaru, Chen & Saad 2017), and an estimate of the remaining curve.
#pragma once

#include <cstdint>
#include <functional>
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

/// Equivalent rank of a ready spectrum.
[[nodiscard]] RankInterval rank_interval(const MapSpectrum& spectrum,
                                         const RankThreshold& threshold);

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

// Estimate of Σσ of a large map without its leading values, by stochastic Lanczos quadrature
// (Ubaru, Chen & Saad 2017) with the known Σσ² as a control variate:

/// Nodes of one probe: (σ, number of values near it), σ descending.
using QuadratureNodes = std::vector<std::pair<double, double>>;

/// Σ of σ times its number of values.
[[nodiscard]] double sum_of_values(const QuadratureNodes& nodes);

struct TraceQuadrature {
  std::vector<QuadratureNodes> probes;
  double sum = 0;             ///< Σσ of the rest
  double standard_error = 0;  ///< standard error of sum
  double rule_distance = 0;   ///< distance of the quadrature's two rules, between which Σσ lies
};

/// Sums that are known before probing.
struct KnownOfRest {
  double squares = 0;    ///< Σσ² of the rest: ‖H‖²_F without the leading values' squares
  double frobenius = 0;  ///< ‖H‖_F
  double known = 0;      ///< Σσ of the leading values
};

/// Estimate of Σ f(σ) over the rest.
struct ProbedSum {
  double plain = 0;  ///< mean over the probes
  /// The same mean, with the known Σσ² as a control variate if its error is then smaller.
  double mean = 0;
  double standard_error = 0;  ///< standard error of `mean`, from the spread over the probes
};

/// The estimate of Σ f(σ) from at least two probes.
[[nodiscard]] ProbedSum probed_sum(const std::vector<QuadratureNodes>& probes,
                                   const KnownOfRest& known,
                                   const std::function<double(double)>& f);

/// Probes `map` with random vectors outside the orthonormal columns of `leading` [columns, k]:
/// sixteen at a time until their standard error is below `wanted_error` times Σσ of all values, or
/// there are 32. Deterministic. The weights of every probe sum to min(N, M) − k.
[[nodiscard]] TraceQuadrature probe_rest(const MapOperator& map, const Eigen::MatrixXd& leading,
                                         const KnownOfRest& known, double wanted_error);

}  // namespace attnscope
