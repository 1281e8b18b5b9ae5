// Attention rollout: how much each input token reaches each token through all layers.
#pragma once

#include "core/attention/mechanism.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// How the maps of a layer's heads become one.
enum class RolloutFusion { mean, maximum, minimum };
inline constexpr EnumName<RolloutFusion> rollout_fusion_names[] = {{RolloutFusion::mean, "mean"},
                                                                   {RolloutFusion::maximum, "max"},
                                                                   {RolloutFusion::minimum, "min"}};

struct RolloutOptions {
  std::int64_t layers = 0;  ///< how many from the first, all if 0
  RolloutFusion fusion = RolloutFusion::mean;
};

/// R_l = Ã_l · R_{l−1}, R_0 = I, Ã = ½ Ā + ½ I, with Ā a layer's maps fused over its heads (the
/// paper's is their mean), without identity mapping, every row divided by its sum (Abnar & Zuidema
/// 2020, Eq. 1). Rows of the result sum to one, whatever prefix tokens and grid the input has; a
/// row of a map that does not sum to something positive and finite passes its token on alone. Where
/// a layer's grid is that of the layer before with cells merged (Swin), what reaches the merged
/// token is the mean of what reaches its cells. [N, N], both of the first layer: the row of a token
/// that was merged is that of what it became a part of. Throws Error(usage) if a layer's maps were
/// not recorded, are not square, or its tokens are others, Cancelled.
[[nodiscard]] Tensor attention_rollout(const Trace& trace, const RolloutOptions& options,
                                       const Progress& progress = {});

/// The paper's: the mean over heads.
[[nodiscard]] Tensor attention_rollout(const Trace& trace, std::int64_t layers = 0,
                                       const Progress& progress = {});

/// Whether the maps and tokens of all layers allow it.
[[nodiscard]] bool has_rollout(const Trace& trace);

}  // namespace attnscope
