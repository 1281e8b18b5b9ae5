// Causal language models: Fastformer-LM (of "Additive Attention Is All You Need?", at the commit of
// its description and in its final code), GPT-2 in Hugging Face's form, minGPT and nanoGPT.
// `attnscope train` saves text models under the names of the last two, with the parameters of their
// mechanisms.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view fastformer_lm_family = R"json({
  "name": "Fastformer-LM",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "scores": { "causal": true } },
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5
  },
  "assume": { "heads": 4, "readout": "next_token" },
  "reasons": {
    "heads": "the default of FastformerLMConfig",
    "layer_mechanisms": "windows of 4, 8, 16, … tokens, none in the last layer: the default"
  },
  "tensors": {
    "token_embedding": "word_embedding",
    "positions": "fastformer_model.position_embeddings.weight",
    "embedding_norm": "fastformer_model.LayerNorm?",
    "layer.norm1": "fastformer_model.decoders.{layer}.attention.attn_norm",
    "layer.query": "fastformer_model.decoders.{layer}.attention.Wquery",
    "layer.key": "fastformer_model.decoders.{layer}.attention.Wkeys",
    "layer.value": "fastformer_model.decoders.{layer}.attention.Wvalues",
    "layer.mechanism.query_importance": "fastformer_model.decoders.{layer}.attention.query_attn",
    "layer.mechanism.key_importance": "fastformer_model.decoders.{layer}.attention.key_attn",
    "layer.out": "fastformer_model.decoders.{layer}.attention.attn_proj?",
    "layer.middle_norm": "fastformer_model.decoders.{layer}.attention.mid_norm?",
    "layer.norm2": "fastformer_model.decoders.{layer}.boom_norm",
    "layer.mlp1": "fastformer_model.decoders.{layer}.boom",
    "layer.mlp2": "fastformer_model.decoders.{layer}.unboom",
    "final_norm": "last_norm?",
    "head": "proj_logits?"
  }
})json";

const std::string_view hugging_face_gpt2_family = R"json({
  "name": "Hugging Face GPT-2",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "scores": { "causal": true } },
    "norm_position": "pre"
  },
  "assume": {
    "head_width": 64,
    "activation": "gelu_tanh",
    "norm_eps": 1e-5,
    "readout": "next_token"
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of GPT2Config"
  },
  "tensors": {
    "token_embedding": "wte",
    "positions": "wpe.weight",
    "layer.norm1": "h.{layer}.ln_1",
    "layer.qkv": { "pattern": "h.{layer}.attn.c_attn", "transposed": true },
    "layer.out": { "pattern": "h.{layer}.attn.c_proj", "transposed": true },
    "layer.mask": "h.{layer}.attn.bias?",
    "layer.norm2": "h.{layer}.ln_2",
    "layer.mlp1": { "pattern": "h.{layer}.mlp.c_fc", "transposed": true },
    "layer.mlp2": { "pattern": "h.{layer}.mlp.c_proj", "transposed": true },
    "final_norm": "ln_f",
    "head": "lm_head?"
  }
})json";

const std::string_view min_gpt_family = R"json({
  "name": "minGPT or nanoGPT",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "scores": { "causal": true } },
    "norm_position": "pre",
    "norm": "layer"
  },
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_eps": 1e-5,
    "readout": "next_token"
  },
  "reasons": {
    "activation": "nanoGPT's; minGPT, which stores its mask, has the tanh form",
    "norm_eps": "PyTorch's default"
  },
  "tensors": {
    "token_embedding": "wte",
    "positions": "wpe.weight",
    "layer.norm1": "h.{layer}.ln_1",
    "layer.qkv": "h.{layer}.attn.c_attn",
    "layer.out": "h.{layer}.attn.c_proj",
    "layer.mask": "h.{layer}.attn.bias?",
    "layer.mechanism.importance": "h.{layer}.attn.importance?",
    "layer.mechanism.pe0": "h.{layer}.attn.pe0?",
    "layer.mechanism.pe1": "h.{layer}.attn.pe1?",
    "layer.mechanism.w": "h.{layer}.attn.w?",
    "layer.mechanism.r": "h.{layer}.attn.r?",
    "layer.mechanism.gamma": "h.{layer}.attn.gamma?",
    "layer.mechanism.beta": "h.{layer}.attn.beta?",
    "layer.mechanism.R": "h.{layer}.attn.R?",
    "layer.mechanism.R1": "h.{layer}.attn.R1?",
    "layer.mechanism.R2": "h.{layer}.attn.R2?",
    "layer.mechanism.W1": "h.{layer}.attn.W1?",
    "layer.mechanism.b1": "h.{layer}.attn.b1?",
    "layer.mechanism.W2": "h.{layer}.attn.W2?",
    "layer.mechanism.b2": "h.{layer}.attn.b2?",
    "layer.mechanism.proj_l": "h.{layer}.attn.proj_l?",
    "layer.mechanism.proj_l_bias": "h.{layer}.attn.proj_l_bias?",
    "layer.mechanism.proj_w": "h.{layer}.attn.proj_w?",
    "layer.mechanism.proj_w_bias": "h.{layer}.attn.proj_w_bias?",
    "layer.norm2": "h.{layer}.ln_2",
    "layer.mlp1": "h.{layer}.mlp.c_fc",
    "layer.mlp2": "h.{layer}.mlp.c_proj",
    "final_norm": "ln_f",
    "head": ["lm_head?", "head?"]
  },
  "where": { "layer.mask": { "activation": "gelu_tanh" } }
})json";

}  // namespace attnscope
