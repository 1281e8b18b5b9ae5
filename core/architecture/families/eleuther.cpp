// Tensor names of Hugging Face's GPT-NeoX (Pythia) and GPT-J.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_gpt_neox_family = R"json({
  "name": "Hugging Face GPT-NeoX",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "pre" },
      "rotary": { "form": "half" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "residual": "parallel",
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "rotary": { "theta": 10000, "width": 16 },
      "mlp": { "activation": "gelu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as in Pythia 70M to 410M",
    "norm_eps": "the default of GPTNeoXConfig",
    "layer.residual": "the default of GPTNeoXConfig",
    "layer.rotary.width": "a quarter of a head of 64 channels, as in Pythia 70M to 410M"
  },
  "qkv_rows": "heads_first",
  "tensors": {
    "token_embedding": "embed_in",
    "layer.norm1": "layers.{layer}.input_layernorm",
    "layer.qkv": "layers.{layer}.attention.query_key_value",
    "layer.mask": "layers.{layer}.attention.bias?",
    "layer.out": "layers.{layer}.attention.dense",
    "layer.norm2": "layers.{layer}.post_attention_layernorm",
    "layer.mlp1": "layers.{layer}.mlp.dense_h_to_4h",
    "layer.mlp2": "layers.{layer}.mlp.dense_4h_to_h",
    "final_norm": "final_layer_norm",
    "head": "embed_out?"
  }
})json";

const std::string_view hugging_face_gptj_family = R"json({
  "name": "Hugging Face GPT-J",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "layer", "position": "pre" },
      "residual": "parallel",
      "rotary": { "form": "pair" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-5 },
      "attention": { "head_width": 256 },
      "rotary": { "theta": 10000, "width": 64 },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "heads": "256 channels a head, as in GPT-J 6B",
    "norm_eps": "the default of GPTJConfig",
    "layer.rotary.theta": "as its code has it",
    "layer.rotary.width": "the default of GPTJConfig"
  },
  "tensors": {
    "token_embedding": "wte",
    "layer.norm1": "h.{layer}.ln_1",
    "layer.query": "h.{layer}.attn.q_proj",
    "layer.key": "h.{layer}.attn.k_proj",
    "layer.value": "h.{layer}.attn.v_proj",
    "layer.mask": "h.{layer}.attn.bias?",
    "layer.out": "h.{layer}.attn.out_proj",
    "layer.mlp1": "h.{layer}.mlp.fc_in",
    "layer.mlp2": "h.{layer}.mlp.fc_out",
    "final_norm": "ln_f",
    "head": "lm_head?"
  }
})json";

}  // namespace attnscope
