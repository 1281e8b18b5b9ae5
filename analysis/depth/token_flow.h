// Change of token vectors over depth: their similarity, and the contribution of each part.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

/// Statistics of the tokens after one layer. NaN means unknown.
struct TokenFlow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::int64_t layer = 0;  ///< −1: before the first layer
  /// mean_row_cosine of the tokens (oversmoothing).
  double similarity = kUnknown;
  double centred_norm = kUnknown;  ///< ‖X − 1x̄ᵀ‖_F / ‖X‖_F
  double norm = kUnknown;          ///< mean of ‖x_i‖
  /// Greatest ‖x_i‖ over the median of ‖x_i‖, large for outlier tokens (Darcet et al. 2024).
  double greatest_norm = kUnknown;
  std::int64_t outlier = -1;  ///< token with the greatest norm
  /// Mean over tokens of ‖x_{l,i} − x_{l−1,i}‖ / ‖x_{l−1,i}‖: relative change by the layer.
  double update = kUnknown;
  /// Relative change by the attention and by the MLP, each over its own input; NaN if unknown.
  double attention = kUnknown, mlp = kUnknown;
};

/// (‖Σ_i x_i/‖x_i‖‖² − N) / (N(N − 1)) of the rows x_i: the mean cosine of two of them. NaN for
/// fewer than two rows, and if one is zero.
[[nodiscard]] double mean_row_cosine(const MatrixD& rows);

/// Statistics of every recorded depth, in order. Attention and MLP need the subject's model and a
/// trace with the tensors of request_for_mixing. Throws Error(usage) if no tokens were recorded.
[[nodiscard]] std::vector<TokenFlow> token_flow(const Subject& subject);

}  // namespace attnscope
