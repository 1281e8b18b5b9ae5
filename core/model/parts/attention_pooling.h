// Read-out by attention: a learned query attends to all tokens (SigLIP's head, timm's attn_pool).
#pragma once

#include <optional>

#include "core/model/parts/mlp.h"

namespace attnscope {

/// y = out(softmax(query(probe) · key(X) / √d) value(X)), then y + mlp(norm(y)) if there is an MLP.
struct AttentionPooling {
  Tensor probe;  ///< [1, D]
  std::int64_t heads = 1;
  Linear query, key, value, out;
  std::optional<LayerNorm> norm;
  std::optional<Mlp> mlp;

  /// The attention weights of the tokens, [H, 1, N].
  [[nodiscard]] Tensor map(ConstMatrixMap tokens) const;
  /// Maps tokens [N, D] to the pooled vector [1, D].
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens) const;
};

}  // namespace attnscope
