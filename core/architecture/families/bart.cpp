// Encoder–decoder models of one form: BART, mBART (norms before the parts and after the last
// layer), Marian and Pegasus (sinusoidal positions, which older files store).
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_bart_family = R"json({
  "name": "Hugging Face BART",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "offset": 2 },
    "layer": { "norm": { "kind": "layer" } },
    "tail": { "kind": "decoder" },
    "readout": { "kind": "next_token", "logit_scale": 1 }
  },
  "assume": {
    "layer": {
      "norm": { "position": "post", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "PyTorch's default, as its code has it"
  },
  "where": {
    "final_norm.weight": { "layer": { "norm": { "position": "pre" } } }
  },
  "tensors": {
    "token_embedding": "shared",
    "positions": "encoder.embed_positions",
    "embedding_norm": "encoder.layernorm_embedding",
    "layer.norm1": "encoder.layers.{layer}.self_attn_layer_norm",
    "layer.query": "encoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "encoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "encoder.layers.{layer}.final_layer_norm",
    "layer.mlp1": "encoder.layers.{layer}.fc1",
    "layer.mlp2": "encoder.layers.{layer}.fc2",
    "final_norm": "encoder.layer_norm?",
    "decoder_positions": "decoder.embed_positions",
    "decoder_embedding_norm": "decoder.layernorm_embedding",
    "decoder.norm1": "decoder.layers.{layer}.self_attn_layer_norm",
    "decoder.query": "decoder.layers.{layer}.self_attn.q_proj",
    "decoder.key": "decoder.layers.{layer}.self_attn.k_proj",
    "decoder.value": "decoder.layers.{layer}.self_attn.v_proj",
    "decoder.out": "decoder.layers.{layer}.self_attn.out_proj",
    "cross.norm1": "decoder.layers.{layer}.encoder_attn_layer_norm",
    "cross.query": "decoder.layers.{layer}.encoder_attn.q_proj",
    "cross.key": "decoder.layers.{layer}.encoder_attn.k_proj",
    "cross.value": "decoder.layers.{layer}.encoder_attn.v_proj",
    "cross.out": "decoder.layers.{layer}.encoder_attn.out_proj",
    "cross.norm2": "decoder.layers.{layer}.final_layer_norm",
    "cross.mlp1": "decoder.layers.{layer}.fc1",
    "cross.mlp2": "decoder.layers.{layer}.fc2",
    "decoder_final_norm": "decoder.layer_norm?",
    "head.weight": "lm_head.weight?",
    "head.bias": "final_logits_bias?"
  },
  "harmless": ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"],
  "refuse": {
    "classification_head.dense.weight": "a head of classes",
    "qa_outputs.weight": "a head of answers"
  }
})json";

const std::string_view hugging_face_marian_family = R"json({
  "name": "Hugging Face Marian",
  "like": "Hugging Face BART",
  "model": { "positions": { "offset": 0 } },
  "assume": {
    "positions": { "kind": "sinusoidal", "sinusoid_order": "halves" },
    "input": { "scale": 0 },
    "layer": { "mlp": { "activation": "silu" } }
  },
  "reasons": {
    "embedding_scale": "as in the published models",
    "activation": "as in the published models"
  },
  "tensors": {
    "token_embedding": ["shared", "encoder.embed_tokens"],
    "decoder_token_embedding": "decoder.embed_tokens?",
    "positions": "encoder.embed_positions?",
    "embedding_norm": null,
    "decoder_positions": "decoder.embed_positions?",
    "decoder_embedding_norm": null
  },
  "harmless": ["encoder.embed_tokens.weight"]
})json";

}  // namespace attnscope
