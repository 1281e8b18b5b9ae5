// Read-out of the tokens after the last layer.
#pragma once

#include <cstdint>

namespace attnscope {

/// Output that is read after the last layer. In JSON "class" for class_token, otherwise the name.
enum class Readout {
  class_token,
  mean,                 ///< mean of the patch tokens
  class_and_distilled,  ///< class and distillation token, each with its head; logits are averaged
  none,
  mean_all,        ///< mean of all tokens, including prefix tokens
  class_and_mean,  ///< the class token, then the mean of the patches: [2·D]
  pooler,          ///< tanh(pooler · first token) (BERT)
  last_token,
  additive_pooling,   ///< mean weighted by a softmax over the tokens (Fastformer)
  attention_pooling,  ///< attention output of a learned query (SigLIP)
  next_token,         ///< one row of logits per token, for the token after it
  masked_token,       ///< one row of logits per token, for the token at its position
  end_token           ///< first token that marks the end of the text (CLIP)
};
enum class HeadActivation { none, tanh, gelu, relu };

struct ReadoutSpec {
  Readout kind = Readout::class_token;
  bool final_norm = true;  ///< true: a norm of all tokens after the last layer
  HeadActivation head_activation = HeadActivation::tanh;  ///< activation within a deep head
  std::int64_t end_token = -1;  ///< id for Readout::end_token; -1: the largest id of the text
  double logit_scale = 1;  ///< factor of a language model's logits; 0: 1/√width (Fastformer-LM)
  double soft_cap = 0;     ///< logits become c · tanh(logit / c) (Gemma 2); 0: none

  /// True if the read-out gives one feature vector per input.
  [[nodiscard]] bool gives_features() const {
    return kind != Readout::none && !gives_token_logits();
  }
  [[nodiscard]] bool gives_token_logits() const {
    return kind == Readout::next_token || kind == Readout::masked_token;
  }
};

}  // namespace attnscope
