// What is read of the tokens after the last layer.
#pragma once

#include <cstdint>

namespace attnscope {

/// In JSON "class", "mean", …
enum class Readout {
  class_token,
  mean,                 ///< of the patches' tokens
  class_and_distilled,  ///< each by its head; the logits are averaged
  none,
  mean_all,        ///< of all tokens, prefix tokens included
  class_and_mean,  ///< the class token, then the mean of the patches: [2·D]
  pooler,          ///< tanh(pooler · first token) (BERT)
  last_token,
  additive_pooling,   ///< the mean by a softmax over the tokens (Fastformer)
  attention_pooling,  ///< what a learned query attends to (SigLIP)
  next_token,         ///< of each token the logits of what comes after it
  masked_token,       ///< of each token the logits of what it stands for
  end_token           ///< the first token that says that the text ends (CLIP)
};
enum class HeadActivation { none, tanh, gelu, relu };

struct ReadoutSpec {
  Readout kind = Readout::class_token;
  bool final_norm = true;  ///< a norm of all tokens after the last layer
  HeadActivation head_activation = HeadActivation::tanh;  ///< between the layers of a deep head
  std::int64_t end_token = -1;  ///< its id, of Readout::end_token; -1: the greatest of the text
  double logit_scale = 1;       ///< of a language model's logits; 0: 1/√width (Fastformer-LM)
  double soft_cap = 0;          ///< logits become c · tanh(logit / c) (Gemma 2); 0: none

  /// Whether one vector of an input is read: its features.
  [[nodiscard]] bool gives_features() const {
    return kind != Readout::none && !gives_token_logits();
  }
  [[nodiscard]] bool gives_token_logits() const {
    return kind == Readout::next_token || kind == Readout::masked_token;
  }
};

}  // namespace attnscope
