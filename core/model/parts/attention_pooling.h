// A read-out by attention: a learned query asks all tokens (SigLIP's head, timm's attn_pool).
#pragma once

#include <optional>

#include "core/model/parts/mlp.h"

namespace attnscope {

/// y = out(softmax(query(probe) · key(X) / √d) value(X)); y + mlp(norm(y)) where there is an MLP.
struct AttentionPooling {
  Tensor probe;  ///< [1, D]
  std::int64_t heads = 1;
  Linear query, key, value, out;
  std::optional<LayerNorm> norm;
  std::optional<Mlp> mlp;

  /// What each token counts, [H, 1, N].
  [[nodiscard]] Tensor map(ConstMatrixMap tokens) const;
  /// [N, D] → [1, D].
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens) const;
};

}  // namespace attnscope
