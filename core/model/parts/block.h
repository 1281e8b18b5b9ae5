// One layer of a transformer: attention and MLP, their norms, residuals and layer scales.
#pragma once

#include <optional>
#include <vector>

#include "core/model/parts/attention_part.h"
#include "core/model/parts/mlp.h"

namespace attnscope {

/// Norms around one part of a layer: of its input, of its output, and of the sum with the residual.
struct BranchNorms {
  std::optional<LayerNorm> before, inside, after;
};

struct Block {
  LayerSpec spec;
  std::optional<double> score_scale;  ///< AttentionInput::scale
  BranchNorms attention_norms, mlp_norms;
  AttentionPart attention;
  std::optional<Mlp> mlp;             ///< empty if the layer has only attention
  std::vector<float> scale1, scale2;  ///< layer scale of attention and MLP [D]; empty for none
  // Members used only by Fastformer's layer forms.
  std::optional<LayerNorm> middle_norm;  ///< norm between the two attentions
  std::optional<Linear> transform;       ///< H·d → H·d, applied to mean key ⊙ value
};

/// Applies the layer to `tokens` [N, D] in place. `run` is complete except for the score scale.
void run_block(const Block& block, LayerRun run, Tensor& tokens);

}  // namespace attnscope
