// Tensor names of Hugging Face's Llama, whose names and layers many models share (Mistral, Qwen2,
// SmolLM), and Qwen3.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_llama_family = R"json({
  "name": "Hugging Face Llama",
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
      "norm": { "eps": 1e-6 },
      "attention": { "head_width": 128 },
      "rotary": { "theta": 10000 },
      "mlp": { "activation": "silu" }
    }
  },
  "reasons": {
    "heads": "128 channels a head, as in Llama 1 to 3",
    "norm_eps": "the default of LlamaConfig",
    "layer.rotary.theta": "the default of LlamaConfig; Llama 3 has 500000"
  },
  "tensors": {
    "token_embedding": "embed_tokens",
    "layer.norm1": "layers.{layer}.input_layernorm",
    "layer.query": "layers.{layer}.self_attn.q_proj",
    "layer.key": "layers.{layer}.self_attn.k_proj",
    "layer.value": "layers.{layer}.self_attn.v_proj",
    "layer.out": "layers.{layer}.self_attn.o_proj",
    "layer.norm2": "layers.{layer}.post_attention_layernorm",
    "layer.mlp_gate": "layers.{layer}.mlp.gate_proj",
    "layer.mlp1": "layers.{layer}.mlp.up_proj",
    "layer.mlp2": "layers.{layer}.mlp.down_proj",
    "final_norm": "norm",
    "head": "lm_head?"
  },
  "refuse": {
    "layers.0.self_attn.q_norm.weight": "norms of queries and keys",
    "layers.0.pre_feedforward_layernorm.weight": "norms after each part"
  }
})json";

const std::string_view hugging_face_qwen3_family = R"json({
  "name": "Hugging Face Qwen3",
  "like": "Hugging Face Llama",
  "assume": {
    "layer": {
      "attention": null,
      "rotary": { "theta": 1000000 }
    }
  },
  "reasons": {
    "heads": null,
    "norm_eps": "the default of Qwen3Config",
    "layer.rotary.theta": "as in the published configurations"
  },
  "tensors": {
    "layer.query_norm": "layers.{layer}.self_attn.q_norm",
    "layer.key_norm": "layers.{layer}.self_attn.k_norm"
  },
  "refuse": {
    "layers.0.self_attn.q_norm.weight": null
  }
})json";

const std::string_view meta_llama_family = R"json({
  "name": "Meta Llama",
  "like": "Hugging Face Llama",
  "model": { "layer": { "rotary": { "form": "pair" } } },
  "assume": { "layer": { "norm": { "eps": 1e-5 } } },
  "reasons": {
    "norm_eps": "the default of Meta's code",
    "layer.rotary.theta": "the default of Meta's code; Llama 3 has 500000"
  },
  "tensors": {
    "token_embedding": "tok_embeddings",
    "layer.norm1": "layers.{layer}.attention_norm",
    "layer.query": "layers.{layer}.attention.wq",
    "layer.key": "layers.{layer}.attention.wk",
    "layer.value": "layers.{layer}.attention.wv",
    "layer.out": "layers.{layer}.attention.wo",
    "layer.mask": "layers.{layer}.attention.mask?",
    "layer.norm2": "layers.{layer}.ffn_norm",
    "layer.mlp_gate": "layers.{layer}.feed_forward.w1",
    "layer.mlp1": "layers.{layer}.feed_forward.w3",
    "layer.mlp2": "layers.{layer}.feed_forward.w2",
    "head": "output"
  },
  "harmless": ["freqs_cos", "freqs_sin"],
  "refuse": { "layers.0.feed_forward.gate.weight": "a mixture of experts" }
})json";

}  // namespace attnscope
