// One layer of a transformer: attention and MLP, their norms, residuals and layer scales.
#pragma once

#include <optional>
#include <vector>

#include "core/model/parts/attention_part.h"
#include "core/model/parts/mlp.h"

namespace attnscope {

/// Around one part of a layer: norm of what it reads, of what it gives, and of the sum of both.
struct BranchNorms {
  std::optional<LayerNorm> before, inside, after;
};

struct Block {
  LayerSpec spec;
  std::optional<double> score_scale;  ///< AttentionInput::scale
  BranchNorms attention_norms, mlp_norms;
  AttentionPart attention;
  std::optional<Mlp> mlp;             ///< none: attention alone
  std::vector<float> scale1, scale2;  ///< layer scale of attention and MLP [D]; empty for none
  // Of Fastformer's forms:
  std::optional<LayerNorm> middle_norm;  ///< between its two attentions
  std::optional<Linear> transform;       ///< H·d → H·d, of mean key ⊙ value
};

/// Takes `tokens` [N, D] through the layer, in place. `run` has all but the scale of the scores.
void run_block(const Block& block, LayerRun run, Tensor& tokens);

}  // namespace attnscope
