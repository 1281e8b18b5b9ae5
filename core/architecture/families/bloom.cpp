// Tensor names of Hugging Face's BLOOM.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_bloom_family = R"json({
  "name": "Hugging Face BLOOM",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "pre" },
      "scores": { "causal": true, "bias": "alibi" },
      "mlp": { "activation": "gelu_tanh" }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 64 }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as in BLOOM 560M",
    "norm_eps": "the default of BloomConfig"
  },
  "qkv_rows": "heads_first",
  "tensors": {
    "token_embedding": "word_embeddings",
    "embedding_norm": "word_embeddings_layernorm",
    "layer.norm1": "h.{layer}.input_layernorm",
    "layer.qkv": "h.{layer}.self_attention.query_key_value",
    "layer.out": "h.{layer}.self_attention.dense",
    "layer.norm2": "h.{layer}.post_attention_layernorm",
    "layer.mlp1": "h.{layer}.mlp.dense_h_to_4h",
    "layer.mlp2": "h.{layer}.mlp.dense_4h_to_h",
    "final_norm": "ln_f",
    "head": "lm_head?"
  }
})json";

}  // namespace attnscope
