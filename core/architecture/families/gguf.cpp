// Names in llama.cpp's GGUF files. The keys of a file give its architecture
// (configuration/gguf_config.cpp).
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view gguf_family = R"json({
  "name": "GGUF language model",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "rms" },
      "scores": { "causal": true }
    },
    "readout": { "kind": "next_token" }
  },
  "assume": {
    "layer": {
      "norm": { "position": "pre", "eps": 1e-5 },
      "rotary": { "form": "pair", "theta": 10000 },
      "mlp": { "activation": "silu" }
    }
  },
  "reasons": {
    "layer.rotary.theta": "the default of llama.cpp"
  },
  "where": {
    "layer.norm1_after.weight": { "layer": { "norm": { "position": "sandwich" } } }
  },
  "tensors": {
    "token_embedding": "token_embd",
    "rotary_factors": "rope_freqs.weight?",
    "layer.norm1": "blk.{layer}.attn_norm",
    "layer.query": "blk.{layer}.attn_q",
    "layer.key": "blk.{layer}.attn_k",
    "layer.value": "blk.{layer}.attn_v",
    "layer.query_norm": "blk.{layer}.attn_q_norm?",
    "layer.key_norm": "blk.{layer}.attn_k_norm?",
    "layer.out": "blk.{layer}.attn_output",
    "layer.norm1_after": "blk.{layer}.post_attention_norm?",
    "layer.norm2": "blk.{layer}.ffn_norm",
    "layer.mlp_gate": "blk.{layer}.ffn_gate",
    "layer.mlp1": "blk.{layer}.ffn_up",
    "layer.mlp2": "blk.{layer}.ffn_down",
    "layer.norm2_after": "blk.{layer}.post_ffw_norm?",
    "final_norm": "output_norm",
    "head": "output?"
  }
})json";

}  // namespace attnscope
