// The weights of a vision transformer (or bare encoder), read from a checkpoint by role.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/model/parts/linear.h"
#include "core/model/weights/weight_reader.h"
#include "core/progress.h"

namespace attnscope {

struct BlockWeights {
  std::optional<LayerNorm> norm1, norm2;
  std::optional<LayerNorm> middle_norm;           ///< between Fastformer-LM's two attentions
  Linear query, key, value;                       ///< D → H·d
  std::optional<LayerNorm> query_norm, key_norm;  ///< of each head's queries and keys [d]
  NamedTensors mechanism;                         ///< what AttentionInput::parameters points at
  std::optional<LayerNorm> attention_norm;        ///< of the heads' output [H·d]
  std::optional<Linear> out;                      ///< H·d → D; none if the family leaves it out
  std::vector<float> scale1, scale2;              ///< layer scale [D]; empty for none
  std::optional<Linear> mlp_gate;                 ///< D → mlp_width, of a gated MLP
  Linear mlp1, mlp2;

  /// [N, D] → [N, D]
  [[nodiscard]] Tensor mlp(Activation activation, ConstMatrixMap tokens) const;
};

struct VitWeights {
  std::optional<LayerNorm> patch_norm_before;  ///< [C·ph·pw]
  Linear patch;                                ///< (c, row, column) → D; no outputs: bare encoder
  std::optional<LayerNorm> patch_norm_after;
  Tensor prefix_tokens;  ///< class tokens, then registers, positions added; empty for none
  Tensor positions;      ///< [rows · columns, D], of the spec's grid; empty for none
  std::optional<LayerNorm> embedding_norm;
  std::vector<BlockWeights> blocks;
  std::optional<LayerNorm> final_norm, head_norm;
  std::vector<Linear> head;  ///< empty: no logits
  std::optional<Linear> distillation_head;
};

/// One layer. Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] BlockWeights read_block(const WeightReader& reader, const Architecture& architecture,
                                      std::int64_t layer);

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] VitWeights read_vit_weights(const Checkpoint& checkpoint,
                                          const Architecture& architecture,
                                          const Progress& progress = {});

}  // namespace attnscope
