// SigLIP's two towers in Hugging Face's names; in timm's the image tower is a ViT with attn_pool.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_siglip_family = R"json({
  "name": "Hugging Face SigLIP",
  "model": { "readout": "attention_pooling" },
  "assume": {
    "head_width": 64,
    "activation": "gelu_tanh",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "exact",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0,
    "position_resize": "bicubic"
  },
  "reasons": {
    "heads": "64 channels a head, as the default of SiglipVisionConfig",
    "activation": "the default of SiglipVisionConfig",
    "norm_eps": "the default of SiglipVisionConfig"
  },
  "tensors": {
    "patch": "vision_model.embeddings.patch_embedding",
    "positions": "vision_model.embeddings.position_embedding",
    "layer.norm1": "vision_model.encoder.layers.{layer}.layer_norm1",
    "layer.query": "vision_model.encoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "vision_model.encoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "vision_model.encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "vision_model.encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "vision_model.encoder.layers.{layer}.layer_norm2",
    "layer.mlp1": "vision_model.encoder.layers.{layer}.mlp.fc1",
    "layer.mlp2": "vision_model.encoder.layers.{layer}.mlp.fc2",
    "final_norm": "vision_model.post_layernorm",
    "pooling.probe": "vision_model.head.probe?",
    "pooling.qkv.weight": "vision_model.head.attention.in_proj_weight?",
    "pooling.qkv.bias": "vision_model.head.attention.in_proj_bias?",
    "pooling.out": "vision_model.head.attention.out_proj?",
    "pooling.norm": "vision_model.head.layernorm?",
    "pooling.mlp1": "vision_model.head.mlp.fc1?",
    "pooling.mlp2": "vision_model.head.mlp.fc2?"
  },
  "harmless": ["text_model.*", "logit_scale", "logit_bias"],
  "refuse": {
    "vision_model.embeddings.class_embedding": "a class token",
    "vision_model.pre_layrnorm.weight": "a norm before the layers",
    "classifier.weight": "a classifier of the patches' mean"
  }
})json";

const std::string_view hugging_face_siglip_text_family = R"json({
  "name": "Hugging Face SigLIP text",
  "model": {
    "input": { "kind": "tokens" },
    "positions": { "kind": "learned" },
    "readout": { "kind": "last_token" }
  },
  "assume": {
    "layer": {
      "norm": { "position": "pre", "eps": 1e-6 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu_tanh" }
    }
  },
  "reasons": {
    "heads": "64 channels a head, as the default of SiglipTextConfig",
    "activation": "the default of SiglipTextConfig",
    "norm_eps": "the default of SiglipTextConfig"
  },
  "tensors": {
    "token_embedding": "text_model.embeddings.token_embedding",
    "positions": "text_model.embeddings.position_embedding",
    "layer.norm1": "text_model.encoder.layers.{layer}.layer_norm1",
    "layer.query": "text_model.encoder.layers.{layer}.self_attn.q_proj",
    "layer.key": "text_model.encoder.layers.{layer}.self_attn.k_proj",
    "layer.value": "text_model.encoder.layers.{layer}.self_attn.v_proj",
    "layer.out": "text_model.encoder.layers.{layer}.self_attn.out_proj",
    "layer.norm2": "text_model.encoder.layers.{layer}.layer_norm2",
    "layer.mlp1": "text_model.encoder.layers.{layer}.mlp.fc1",
    "layer.mlp2": "text_model.encoder.layers.{layer}.mlp.fc2",
    "final_norm": "text_model.final_layer_norm",
    "head.0.weight": "text_model.head.weight",
    "head.0.bias": "text_model.head.bias"
  },
  "harmless": ["vision_model.*", "logit_scale", "logit_bias"]
})json";

}  // namespace attnscope
