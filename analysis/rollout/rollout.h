// Attention rollout: contribution of each input token to each token through all layers.
#pragma once

#include "core/attention/mechanism.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Fusion of the maps of a layer's heads into one.
enum class RolloutFusion { mean, maximum, minimum };
inline constexpr EnumName<RolloutFusion> rollout_fusion_names[] = {{RolloutFusion::mean, "mean"},
                                                                   {RolloutFusion::maximum, "max"},
                                                                   {RolloutFusion::minimum, "min"}};

struct RolloutOptions {
  std::int64_t layers = 0;  ///< number of layers from the first, 0 for all
  RolloutFusion fusion = RolloutFusion::mean;
};

/// R_l = Ã_l · R_{l−1}, R_0 = I, Ã = ½ Ā + ½ I, with Ā a layer's maps fused over its heads (by
/// their mean in the paper), without identity mapping, every row divided by its sum (Abnar &
/// Zuidema 2020, Eq. 1). Rows of the result sum to 1 for any prefix tokens and grid; a token whose
/// row of the map has no positive finite sum keeps only itself. If a layer's grid is the previous
/// grid with cells merged (Swin), a merged token has the mean of the rows of its cells. The result
/// is [N, N], both of the first layer: a merged token has the row of the token that contains it.
/// Throws Error(usage) if a layer's maps were not recorded, are not square, or belong to other
/// tokens; Cancelled.
[[nodiscard]] Tensor attention_rollout(const Trace& trace, const RolloutOptions& options,
                                       const Progress& progress = {});

/// Rollout as in the paper, with the mean over heads.
[[nodiscard]] Tensor attention_rollout(const Trace& trace, std::int64_t layers = 0,
                                       const Progress& progress = {});

/// True if the maps and tokens of all layers allow a rollout.
[[nodiscard]] bool has_rollout(const Trace& trace);

}  // namespace attnscope
