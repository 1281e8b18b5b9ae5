// Encoder of OpenAI's Whisper, with Hugging Face's names and with its own; the decoder is not run.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_whisper_encoder_family = R"json({
  "name": "Hugging Face Whisper encoder",
  "model": {
    "input": { "kind": "audio" },
    "positions": { "kind": "learned" },
    "layer": { "norm": { "kind": "layer", "position": "pre", "eps": 1e-5 } },
    "readout": { "kind": "none" }
  },
  "assume": {
    "layer": {
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as all of OpenAI's"
  },
  "tensors": {
    "sound1.weight": "encoder.conv1.weight",
    "sound1.bias": "encoder.conv1.bias",
    "sound2.weight": "encoder.conv2.weight",
    "sound2.bias": "encoder.conv2.bias",
    "positions": "encoder.embed_positions",
    "layer.norm1": "encoder.layers.{layer}.self_attn_layer_norm",
    "layer.query": "encoder.layers.{layer}.self_attn.q_proj",
    "layer.key.weight": "encoder.layers.{layer}.self_attn.k_proj.weight",
    "layer.value": "encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "encoder.layers.{layer}.final_layer_norm",
    "layer.mlp1": "encoder.layers.{layer}.fc1",
    "layer.mlp2": "encoder.layers.{layer}.fc2",
    "final_norm": "encoder.layer_norm"
  },
  "harmless": ["decoder.*", "proj_out.weight"],
  "refuse": {
    "classifier.weight": "a classifier of the mean of projected tokens"
  }
})json";

const std::string_view openai_whisper_encoder_family = R"json({
  "name": "OpenAI Whisper encoder",
  "like": "Hugging Face Whisper encoder",
  "tensors": {
    "positions": "encoder.positional_embedding",
    "layer.norm1": "encoder.blocks.{layer}.attn_ln",
    "layer.query": "encoder.blocks.{layer}.attn.query",
    "layer.key.weight": "encoder.blocks.{layer}.attn.key.weight",
    "layer.value": "encoder.blocks.{layer}.attn.value",
    "layer.out": "encoder.blocks.{layer}.attn.out",
    "layer.norm2": "encoder.blocks.{layer}.mlp_ln",
    "layer.mlp1": "encoder.blocks.{layer}.mlp.0",
    "layer.mlp2": "encoder.blocks.{layer}.mlp.2",
    "final_norm": "encoder.ln_post"
  }
})json";

}  // namespace attnscope
