// Read-out of the tokens after the last layer: features and logits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/mlp.h"

namespace attnscope {

/// Read-out by attention: a learned query attends to all tokens (SigLIP's head, timm's attn_pool).
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

/// Index of the token that ends the text: the first with `id`, or the first with the greatest id if
/// `id` is -1. Throws Error(usage) if there is none.
[[nodiscard]] std::int64_t end_of_text(const std::vector<std::int64_t>& ids, std::int64_t id);

struct TokenReadout {
  std::optional<LayerNorm> final_norm;      ///< norm of all tokens
  std::optional<LayerNorm> head_norm;       ///< norm of the head's input
  std::optional<Linear> pooler;             ///< used by Readout::pooler, followed by tanh
  std::optional<AttentionPooling> pooling;  ///< used by Readout::attention_pooling
  Linear pooling1, pooling2;                ///< used by Readout::additive_pooling: D → P → 1
  /// Hidden layer of the head, whose input is then norm(act(transform(x))), for each token or for
  /// the features.
  std::optional<Linear> transform;
  std::optional<LayerNorm> transform_norm;
  std::optional<Linear> projection;  ///< projection to the width of narrower embeddings
  std::vector<Linear> head;          ///< empty if there are no logits
  std::optional<Linear> distillation_head;
  bool tied_head = false;  ///< true if the head's weight is the token embedding's

  /// Input of the head computed from the normalised tokens, [1, D or 2·D]. Empty if the head does
  /// not read a single vector. `end` is the row given by end_of_text, for Readout::end_token.
  [[nodiscard]] Tensor features(const Tensor& tokens, const ModelSpec& spec,
                                std::int64_t end = 0) const;
  /// Learned weights of the tokens in the features: [1, N] for additive pooling, [H, N] for
  /// attention pooling, otherwise empty.
  [[nodiscard]] Tensor importance(const Tensor& tokens) const;
  /// Weights of additive pooling, [1, N].
  [[nodiscard]] Tensor pooling_importance(const Tensor& tokens) const;
  /// The logits of an input, [1, classes]; empty without a head.
  [[nodiscard]] Tensor classify(const Tensor& features, const Tensor& tokens,
                                const ModelSpec& spec) const;
  /// The logits at each token, [N, vocabulary].
  [[nodiscard]] Tensor token_logits(const Tensor& tokens, const ModelSpec& spec) const;

 private:
  [[nodiscard]] Tensor transformed(const Tensor& tokens, const ModelSpec& spec) const;
};

}  // namespace attnscope
