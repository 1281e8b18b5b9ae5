// Tensor names of Hugging Face's T5, complete or only its encoder, as saved by T5EncoderModel.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_t5_encoder_family = R"json({
  "name": "Hugging Face T5 encoder",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "none" },
    "layer": {
      "norm": { "kind": "rms", "position": "pre" },
      "scores": { "scale": "none", "bias": "buckets" }
    },
    "readout": { "kind": "none" }
  },
  "assume": {
    "layer": {
      "norm": { "eps": 1e-6 },
      "attention": { "head_width": 64 },
      "scores": { "bucket_distance": 128 },
      "mlp": { "activation": "relu" }
    }
  },
  "reasons": {
    "norm_eps": "the default of T5Config",
    "activation": "as in T5 1.0",
    "layer.scores.bucket_distance": "the default of T5Config"
  },
  "where": {
    "layer.mlp_gate.weight": { "layer": { "mlp": { "activation": "gelu_tanh" } } }
  },
  "tensors": {
    "token_embedding": ["shared", "encoder.embed_tokens"],
    "position_biases": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "layer.norm1": "encoder.block.{layer}.layer.0.layer_norm",
    "layer.query": "encoder.block.{layer}.layer.0.SelfAttention.q",
    "layer.key": "encoder.block.{layer}.layer.0.SelfAttention.k",
    "layer.value": "encoder.block.{layer}.layer.0.SelfAttention.v",
    "layer.out": "encoder.block.{layer}.layer.0.SelfAttention.o",
    "layer.norm2": "encoder.block.{layer}.layer.1.layer_norm",
    "layer.mlp_gate": "encoder.block.{layer}.layer.1.DenseReluDense.wi_0?",
    "layer.mlp1.weight": ["encoder.block.{layer}.layer.1.DenseReluDense.wi.weight",
                          "encoder.block.{layer}.layer.1.DenseReluDense.wi_1.weight"],
    "layer.mlp2": "encoder.block.{layer}.layer.1.DenseReluDense.wo",
    "final_norm": "encoder.final_layer_norm"
  },
  "harmless": ["encoder.embed_tokens.weight"],
  "refuse": {
    "decoder.block.0.layer.0.SelfAttention.q.weight": "a decoder (T5EncoderModel saves the encoder alone)"
  }
})json";

const std::string_view hugging_face_t5_family = R"json({
  "name": "Hugging Face T5",
  "like": "Hugging Face T5 encoder",
  "model": {
    "tail": { "kind": "decoder" },
    "readout": { "kind": "next_token" }
  },
  "assume": { "readout": { "logit_scale": 0 } },
  "reasons": { "logit_scale": "as in T5 1.0, whose head is its token embedding" },
  "where": {
    "layer.mlp_gate.weight": {
      "layer": { "mlp": { "activation": "gelu_tanh" } },
      "readout": { "logit_scale": 1 }
    }
  },
  "tensors": {
    "token_embedding": "shared",
    "decoder_position_biases": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "decoder.norm1": "decoder.block.{layer}.layer.0.layer_norm",
    "decoder.query": "decoder.block.{layer}.layer.0.SelfAttention.q",
    "decoder.key": "decoder.block.{layer}.layer.0.SelfAttention.k",
    "decoder.value": "decoder.block.{layer}.layer.0.SelfAttention.v",
    "decoder.out": "decoder.block.{layer}.layer.0.SelfAttention.o",
    "cross.norm1": "decoder.block.{layer}.layer.1.layer_norm",
    "cross.query": "decoder.block.{layer}.layer.1.EncDecAttention.q",
    "cross.key": "decoder.block.{layer}.layer.1.EncDecAttention.k",
    "cross.value": "decoder.block.{layer}.layer.1.EncDecAttention.v",
    "cross.out": "decoder.block.{layer}.layer.1.EncDecAttention.o",
    "cross.norm2": "decoder.block.{layer}.layer.2.layer_norm",
    "cross.mlp_gate": "decoder.block.{layer}.layer.2.DenseReluDense.wi_0?",
    "cross.mlp1.weight": ["decoder.block.{layer}.layer.2.DenseReluDense.wi.weight",
                          "decoder.block.{layer}.layer.2.DenseReluDense.wi_1.weight"],
    "cross.mlp2": "decoder.block.{layer}.layer.2.DenseReluDense.wo",
    "decoder_final_norm": "decoder.final_layer_norm",
    "head": "lm_head?"
  },
  "harmless": ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
               "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"],
  "refuse": null
})json";

}  // namespace attnscope
