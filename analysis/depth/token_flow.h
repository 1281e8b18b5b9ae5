// What happens to the tokens over depth: whether they become alike, and what each part adds.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

/// After one layer. NaN: not known.
struct TokenFlow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::int64_t layer = 0;  ///< -1: before the first
  /// (‖Σ_i x_i/‖x_i‖‖² − N) / (N(N − 1)): mean cosine of two tokens (oversmoothing).
  double similarity = kUnknown;
  double centred_norm = kUnknown;  ///< ‖X − 1x̄ᵀ‖_F / ‖X‖_F
  double norm = kUnknown;          ///< mean of ‖x_i‖
  double greatest_norm =
      kUnknown;               ///< of ‖x_i‖ over the median: outlier tokens (Darcet et al. 2024)
  std::int64_t outlier = -1;  ///< the token that has it
  /// Mean over tokens of ‖x_l,i − x_{l−1,i}‖ / ‖x_{l−1,i}‖: what the layer adds.
  double update = kUnknown;
  /// The same of its attention and of its MLP, where its model is known.
  double attention = kUnknown, mlp = kUnknown;
};

/// In order of depth, of what was recorded; attention and MLP where the subject has its model, and
/// a trace with what request_for_mixing asks for. Throws Error(usage) if no tokens were recorded.
[[nodiscard]] std::vector<TokenFlow> token_flow(const Subject& subject);

}  // namespace attnscope
