// Spectra of the products of a head's or a layer's weights, without any input (Elhage et al. 2021).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "analysis/weights/head_factors.h"
#include "core/model/model.h"
#include "core/progress.h"

namespace attnscope {

/// Spectrum of the product of one head, whose rank is at most d, or of the sum over a layer's
/// heads. All numbers are NaN if the weights are not finite.
struct WeightSpectrum {
  std::int64_t layer = 0;
  std::int64_t head = 0;   ///< −1 for all heads of the layer
  std::int64_t width = 0;  ///< D, the number of rows of the product
  /// The d greatest of a head in descending order; the other D − d are 0. Of a layer, as many as
  /// its rank may be.
  std::vector<double> singular_values;
  double equivalent_rank = 0, effective_rank = 0, stable_rank = 0;
  /// Σλ_i / Σ|λ_i| over the eigenvalues, −1 to 1; near 1 for a head that copies its input (Elhage
  /// et al. 2021). NaN unless HeadFactors::one_space, if the product is not square, and for W_QK of
  /// whole layers, where it would take most of the time.
  double copying = 0;
  /// ProductSymmetry of W_QK; NaN for W_OV, and unless HeadFactors::one_space.
  double symmetry = 0, directionality = 0;
};

/// Spectra of every head of the model, in order of layer and head. Throws like head_factors;
/// Cancelled.
[[nodiscard]] std::vector<WeightSpectrum> weight_spectra(const Model& model, WeightProduct product,
                                                         const RankThreshold& threshold = {},
                                                         const Progress& progress = {});

/// Spectra of Σ_h W_QK or Σ_h W_OV over the heads of each layer, as Saponati et al. 2025 measure
/// them. Throws like head_factors; Cancelled.
[[nodiscard]] std::vector<WeightSpectrum> layer_weight_spectra(const Model& model,
                                                               WeightProduct product,
                                                               const RankThreshold& threshold = {},
                                                               const Progress& progress = {});

}  // namespace attnscope
