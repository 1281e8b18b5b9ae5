// Tensor names of Hugging Face's OLMo 2.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_olmo2_family = R"json({
  "name": "Hugging Face OLMo 2",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "rms", "position": "branch" },
      "rotary": { "form": "half" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 128 },
      "rotary": { "theta": 10000 },
      "mlp": { "activation": "silu" }
    }
  },
  "reasons": {
    "heads": "128 channels a head, as in the published configurations",
    "norm_eps": "the default of Olmo2Config",
    "layer.rotary.theta": "the default of Olmo2Config; the published ones have 500000"
  },
  "tensors": {
    "token_embedding": "embed_tokens",
    "layer.query": "layers.{layer}.self_attn.q_proj",
    "layer.key": "layers.{layer}.self_attn.k_proj",
    "layer.value": "layers.{layer}.self_attn.v_proj",
    "layer.query_norm": "layers.{layer}.self_attn.q_norm",
    "layer.key_norm": "layers.{layer}.self_attn.k_norm",
    "layer.out": "layers.{layer}.self_attn.o_proj",
    "layer.norm1": "layers.{layer}.post_attention_layernorm",
    "layer.mlp_gate": "layers.{layer}.mlp.gate_proj",
    "layer.mlp1": "layers.{layer}.mlp.up_proj",
    "layer.mlp2": "layers.{layer}.mlp.down_proj",
    "layer.norm2": "layers.{layer}.post_feedforward_layernorm",
    "final_norm": "norm",
    "head": "lm_head?"
  },
  "refuse": {
    "layers.0.pre_feedforward_layernorm.weight": "norms before and after each part"
  }
})json";

}  // namespace attnscope
