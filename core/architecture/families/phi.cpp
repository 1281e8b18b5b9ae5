// Tensor names of Hugging Face's Phi (1, 1.5, 2) and Phi-3.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_phi_family = R"json({
  "name": "Hugging Face Phi",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "pre" },
      "residual": "parallel",
      "rotary": { "form": "half" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "rotary": { "theta": 10000, "width": 32 },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as in Phi 1 and 1.5",
    "norm_eps": "the default of PhiConfig",
    "layer.rotary.width": "half of a head of 64 channels, as in Phi 1 and 1.5"
  },
  "tensors": {
    "token_embedding": "embed_tokens",
    "layer.norm1": "layers.{layer}.input_layernorm",
    "layer.query": "layers.{layer}.self_attn.q_proj",
    "layer.key": "layers.{layer}.self_attn.k_proj",
    "layer.value": "layers.{layer}.self_attn.v_proj",
    "layer.query_norm": "layers.{layer}.self_attn.q_layernorm?",
    "layer.key_norm": "layers.{layer}.self_attn.k_layernorm?",
    "layer.out": "layers.{layer}.self_attn.dense",
    "layer.mlp1": "layers.{layer}.mlp.fc1",
    "layer.mlp2": "layers.{layer}.mlp.fc2",
    "final_norm": "final_layernorm",
    "head": "lm_head?"
  }
})json";

const std::string_view hugging_face_phi3_family = R"json({
  "name": "Hugging Face Phi-3",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "rms", "position": "pre" },
      "rotary": { "form": "half" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 96 },
      "rotary": { "theta": 10000 },
      "mlp": { "activation": "silu" }
    }
  },
  "reasons": {
    "heads": "96 channels a head and as many heads of keys, as in Phi-3 mini",
    "norm_eps": "the default of Phi3Config"
  },
  "tensors": {
    "token_embedding": "embed_tokens",
    "layer.norm1": "layers.{layer}.input_layernorm",
    "layer.qkv": "layers.{layer}.self_attn.qkv_proj",
    "layer.out": "layers.{layer}.self_attn.o_proj",
    "layer.norm2": "layers.{layer}.post_attention_layernorm",
    "layer.mlp_gate_and_mlp1": "layers.{layer}.mlp.gate_up_proj",
    "layer.mlp2": "layers.{layer}.mlp.down_proj",
    "final_norm": "norm",
    "head": "lm_head?"
  }
})json";

}  // namespace attnscope
