// Spectra of the whole weight matrices of a model's layers, and of their differences from another
// model's, with the power laws of their tails.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/model/model.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"

namespace attnscope {

/// Fewest values to which a tail is fitted.
inline constexpr std::size_t least_tail_values = 50;

/// A power law fitted to the tail of a spectrum (Clauset et al. 2009, as WeightWatcher fits it:
/// Martin, Peng & Mahoney 2021): p(λ) ∝ λ^(−α) for λ ≥ x_min. All members are NaN or −1 if no law
/// was fitted.
struct PowerLawTail {
  double exponent = std::numeric_limits<double>::quiet_NaN();  ///< α = 1 + n / Σ ln(λ_i / x_min)
  double error = std::numeric_limits<double>::quiet_NaN();     ///< (α − 1) / √n
  /// The Kolmogorov–Smirnov distance from the law to the n values.
  double distance = std::numeric_limits<double>::quiet_NaN();
  double minimum = std::numeric_limits<double>::quiet_NaN();  ///< x_min
  std::int64_t values = -1;                                   ///< n, number of λ_i ≥ x_min
};

/// The law of `eigenvalues`, in any order, whose x_min is the one of them (except for the greatest)
/// with the least distance; the smallest if several have it. Values that are not positive are left
/// out. No law if a value is not finite or fewer than least_tail_values are left.
[[nodiscard]] PowerLawTail power_law_tail(std::vector<double> eigenvalues);

/// A matrix of a layer; weights that a file holds in one tensor are separate matrices.
enum class LayerMatrix {
  query_latent,
  latent,
  query,
  key,
  value,
  transform,
  output,
  mlp_in,
  mlp_gate,
  mlp_out
};
inline constexpr EnumName<LayerMatrix> layer_matrix_names[] = {
    {LayerMatrix::query_latent, "query-latent"},
    {LayerMatrix::latent, "latent"},
    {LayerMatrix::query, "query"},
    {LayerMatrix::key, "key"},
    {LayerMatrix::value, "value"},
    {LayerMatrix::transform, "transform"},
    {LayerMatrix::output, "output"},
    {LayerMatrix::mlp_in, "mlp-in"},
    {LayerMatrix::mlp_gate, "mlp-gate"},
    {LayerMatrix::mlp_out, "mlp-out"}};

/// Spectrum of W [in, out] of y = x W + b. Numbers are NaN if W is not finite.
struct MatrixSpectrum {
  std::int64_t layer = 0;
  LayerMatrix matrix = LayerMatrix::query;
  std::int64_t inputs = 0, outputs = 0;
  std::vector<double> singular_values;  ///< [min(in, out)], descending
  double equivalent_rank = 0, stable_rank = 0;
  double norm = 0;  ///< ‖W‖_F
  /// The tail of λ = σ², without the σ that are numerically zero (numerical_rank).
  PowerLawTail tail;
  /// s (√in + √out), with s² the variance of the entries of W about their mean: the limit of the
  /// greatest singular value of independent entries of mean 0 (Marchenko & Pastur 1967).
  double noise_edge = 0;
  double above_noise = 0;  ///< number of singular values above noise_edge
  /// ‖W − W′‖_F / ‖W′‖_F of a difference; NaN without one, or if W′ is 0.
  double relative_norm = std::numeric_limits<double>::quiet_NaN();
};

/// Every projection of attention and MLP, in order of layer. Throws Error(usage) for adder
/// arithmetic; Cancelled.
[[nodiscard]] std::vector<MatrixSpectrum> matrix_spectra(const Model& model,
                                                         const RankThreshold& threshold = {},
                                                         const Progress& progress = {});

/// The same of W − W′, with W′ the matrices of `minus`. Throws also Error(usage) if the models do
/// not have the same matrices with the same shapes.
[[nodiscard]] std::vector<MatrixSpectrum> difference_spectra(const Model& model, const Model& minus,
                                                             const RankThreshold& threshold = {},
                                                             const Progress& progress = {});

}  // namespace attnscope
