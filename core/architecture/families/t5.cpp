// The encoder of Hugging Face's T5, as T5EncoderModel saves it.
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

}  // namespace attnscope
