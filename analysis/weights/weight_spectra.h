// What the weights alone say of a head, before any input (Elhage et al. 2021).
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"

namespace attnscope {

enum class WeightProduct {
  qk,  ///< W_QK = W_Q W_Kᵀ [D, D]: x_i W_QK x_jᵀ is the score, but for biases and rotations
  ov   ///< W_OV = W_V W_O [D, D]: what a token that is attended to adds
};
inline constexpr EnumName<WeightProduct> weight_product_names[] = {{WeightProduct::qk, "qk"},
                                                                   {WeightProduct::ov, "ov"}};

/// Of one head; rank ≤ d.
struct WeightSpectrum {
  std::int64_t layer = 0, head = 0;
  std::int64_t width = 0;               ///< D
  std::vector<double> singular_values;  ///< the d greatest, descending; the other D − d are 0
  double equivalent_rank = 0, effective_rank = 0, stable_rank = 0;
  /// Σλ_i / Σ|λ_i| of the eigenvalues, −1 to 1: near 1 a head that copies what it reads (Elhage et
  /// al. 2021). NaN where queries and keys are of other widths.
  double copying = 0;
};

/// Of every head of the model, in order of layer and head. Norms' weights are not folded in; with
/// rotary positions W_QK is that of equal positions. Throws Error(usage) for adder arithmetic,
/// Fastformer, and W_QK of attention that does not score by q·k; Cancelled.
[[nodiscard]] std::vector<WeightSpectrum> weight_spectra(const Model& model, WeightProduct product,
                                                         double threshold = 0.9,
                                                         const Progress& progress = {});

}  // namespace attnscope
