// One layer of a transformer: attention and MLP, their norms, residuals and layer scales.
#pragma once

#include <optional>
#include <vector>

#include "core/model/parts/attention_part.h"
#include "core/model/parts/experts.h"
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
  /// Convolutions of the tokens, which are added to them before the attention and before the MLP.
  std::optional<DepthwiseConvolution> local1, local2;
  AttentionPart attention;
  std::optional<Mlp> mlp;             ///< empty if the layer has only attention, or experts
  std::optional<Experts> experts;     ///< in place of `mlp`
  std::vector<float> scale1, scale2;  ///< layer scale of attention and MLP [D]; empty for none
  // Members used only by Fastformer's layer forms.
  std::optional<LayerNorm> middle_norm;  ///< norm between the two attentions
  std::optional<Linear> transform;       ///< H·d → H·d, applied to mean key ⊙ value

  [[nodiscard]] bool has_mlp() const { return mlp || experts; }
  /// The output of the MLP or the experts, [N, D]; only if has_mlp. `recorded`, if not null,
  /// receives the experts of each token.
  [[nodiscard]] Tensor feed_forward(ConstMatrixMap tokens, const GridExtents& grid,
                                    NamedTensors* recorded = nullptr) const;
};

/// Applies the layer to `tokens` [N, D] in place. `run` is complete except for the score scale.
void run_block(const Block& block, LayerRun run, Tensor& tokens);

// Fastformer's two additive attentions: the query-attention pools queries, and the key-attention
// pools the product of its result and the keys (Wu et al. 2021, Eq. 3 to 6).

/// Applies the attention in place for LayerForm::fastformer, fastformer_rescaled or
/// fastformer_encoder.
///
/// Records the maps and map factors of the query-attention, and the quantities of both attentions:
/// "query_logits", "key_logits", "query_importance" and "key_importance" (each [H, N]; importance
/// over the whole text), even if not requested. Another mechanism replaces both poolings. Its
/// queries are the vectors that a mean is multiplied with: the keys in the query-attention, the
/// values in the key-attention.
void run_fastformer_attention(const Block& block, const LayerRun& run, Tensor& x);

/// Computes (x − mean) / (deviation + 1e-5) within each head, with the sample deviation (n − 1).
/// Fastformer-LM's later code normalises the pooled vectors in this way.
void rescale_heads(MatrixMap x, std::int64_t heads);

}  // namespace attnscope
