// Spectra of a head's weights, without any input (Elhage et al. 2021).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/model/model.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"

namespace attnscope {

enum class WeightProduct {
  qk,  ///< W_QK = W_Q W_Kᵀ [D, D]: x_i W_QK x_jᵀ is the score, without biases and rotations
  ov   ///< W_OV = W_V W_O [D, D]: contribution of an attended token
};
inline constexpr EnumName<WeightProduct> weight_product_names[] = {{WeightProduct::qk, "qk"},
                                                                   {WeightProduct::ov, "ov"}};

/// Spectrum of one head's product, whose rank is at most d.
struct WeightSpectrum {
  std::int64_t layer = 0, head = 0;
  std::int64_t width = 0;  ///< D, the number of rows of the product
  /// The d greatest in descending order; the other D − d are 0.
  std::vector<double> singular_values;
  double equivalent_rank = 0, effective_rank = 0, stable_rank = 0;
  /// Σλ_i / Σ|λ_i| over the eigenvalues, −1 to 1; near 1 for a head that copies its input (Elhage
  /// et al. 2021). NaN if the product is not square.
  double copying = 0;
};

/// Spectra of every head of the model, in order of layer and head. Norm weights are not folded in;
/// with rotary positions W_QK is that of equal positions. Throws Error(usage) for adder arithmetic,
/// Fastformer, and W_QK of attention that does not score by q·k; Cancelled.
[[nodiscard]] std::vector<WeightSpectrum> weight_spectra(const Model& model, WeightProduct product,
                                                         const RankThreshold& threshold = {},
                                                         const Progress& progress = {});

}  // namespace attnscope
