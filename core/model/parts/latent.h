// Multi-head latent attention (DeepSeek-V2: Liu et al. 2024, 2.1): the queries, keys and values of
// all heads are computed from narrow vectors of the tokens.
#pragma once

#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// The latents c = norm(x W) of tokens and, behind them in the same projection, the channels that
/// the keys of all heads share, which rotary positions turn.
struct LatentPart {
  Linear narrow;   ///< D → r + r_R
  LayerNorm norm;  ///< [r]

  struct Vectors {
    Tensor latents;  ///< [N, r]
    Tensor shared;   ///< [N, r_R]; empty if r_R is 0, as for queries
  };
  [[nodiscard]] Vectors operator()(const Tensor& tokens) const;
};

/// The keys [N, H·(r_R + d)] with `shared` [N, r_R] before each head's own channels [N, H·d].
[[nodiscard]] Tensor with_shared_channels(const Tensor& shared, const Tensor& own,
                                          std::int64_t heads);

}  // namespace attnscope
