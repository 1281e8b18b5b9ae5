// What is read of the tokens after the last layer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/model/parts/attention_pooling.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// The number of the token that ends the text: the first of `id`, or of the greatest there is where
/// `id` is -1. Throws Error(usage) if there is none.
[[nodiscard]] std::int64_t end_of_text(const std::vector<std::int64_t>& ids, std::int64_t id);

struct TokenReadout {
  std::optional<LayerNorm> final_norm;      ///< of all tokens
  std::optional<LayerNorm> head_norm;       ///< of what the head reads
  std::optional<Linear> pooler;             ///< Readout::pooler: tanh of it is read
  std::optional<AttentionPooling> pooling;  ///< Readout::attention_pooling
  Linear pooling1, pooling2;                ///< Readout::additive_pooling: D → P → 1
  /// What the head reads is norm(act(transform(x))): of each token, or of the vector that is read.
  std::optional<Linear> transform;
  std::optional<LayerNorm> transform_norm;
  std::optional<Linear> projection;  ///< of a language model: to the width of narrower embeddings
  std::vector<Linear> head;          ///< empty: no logits
  std::optional<Linear> distillation_head;
  bool tied_head = false;  ///< the head's weight is the token embedding's

  /// What the head reads of the normalised tokens, [1, D or 2·D]; empty where it is not one vector.
  /// `end`: the row that end_of_text says, of Readout::end_token.
  [[nodiscard]] Tensor features(const Tensor& tokens, const ModelSpec& spec,
                                std::int64_t end = 0) const;
  /// What each token counts in what is read, where that is learned: of additive pooling [1, N], of
  /// attention pooling [H, N]; else empty.
  [[nodiscard]] Tensor importance(const Tensor& tokens) const;
  /// Of additive pooling, [1, N].
  [[nodiscard]] Tensor pooling_importance(const Tensor& tokens) const;
  /// The logits of an input, [1, classes]; empty without a head.
  [[nodiscard]] Tensor classify(const Tensor& features, const Tensor& tokens,
                                const ModelSpec& spec) const;
  /// The logits of each token, [N, vocabulary].
  [[nodiscard]] Tensor token_logits(const Tensor& tokens, const ModelSpec& spec) const;

 private:
  [[nodiscard]] Tensor transformed(const Tensor& tokens, const ModelSpec& spec) const;
};

}  // namespace attnscope
