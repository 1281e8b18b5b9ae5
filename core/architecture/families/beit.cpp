// BEiT, BEiT v2 and data2vec-vision with the names of timm and of Hugging Face, and EVA's first
// models, which have the same names in timm. Keys have no bias. The last three rows of a relative
// position table belong to the class token.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view timm_beit_family = R"json({
  "name": "timm BEiT",
  "model": { "layer": { "mlp": { "form": "plain" } } },
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "class",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.9,
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "heads": "64 channels a head, as every BEiT",
    "input_mean": "BEiT's; BEiT v2 has ImageNet's, EVA CLIP's",
    "input_std": "BEiT's; BEiT v2 has ImageNet's, EVA CLIP's"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token",
    "positions": "pos_embed?",
    "position_biases": "rel_pos_bias.relative_position_bias_table?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv.weight": "blocks.{layer}.attn.qkv.weight",
    "layer.query.bias": "blocks.{layer}.attn.q_bias",
    "layer.value.bias": "blocks.{layer}.attn.v_bias",
    "layer.position_biases": "blocks.{layer}.attn.relative_position_bias_table?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.gamma_1?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.gamma_2?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head": "head?"
  },
  "where": {
    "position_biases": { "layer": { "scores": { "bias": "table" } } },
    "layer.position_biases": { "layer": { "scores": { "bias": "table" } } },
    "head_norm.weight": { "readout": "mean" }
  },
  "refuse": {
    "reg_token": "register tokens, which have rotary positions"
  }
})json";

const std::string_view hugging_face_beit_family = R"json({
  "name": "Hugging Face BEiT",
  "model": { "readout": "mean" },
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-12,
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "exact",
    "resize_filter": "bilinear",
    "crop_fraction": 1.0,
    "positions": { "table_resize": "bilinear" }
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of BeitConfig"
  },
  "tensors": {
    "patch": "embeddings.patch_embeddings.projection",
    "class_token": "embeddings.cls_token",
    "mask_token": "embeddings.mask_token?",
    "positions": "embeddings.position_embeddings?",
    "position_biases": "encoder.relative_position_bias.relative_position_bias_table?",
    "layer.norm1": "encoder.layer.{layer}.layernorm_before",
    "layer.query": "encoder.layer.{layer}.attention.attention.query",
    "layer.key": "encoder.layer.{layer}.attention.attention.key",
    "layer.value": "encoder.layer.{layer}.attention.attention.value",
    "layer.position_biases":
      "encoder.layer.{layer}.attention.attention.relative_position_bias.relative_position_bias_table?",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.scale1": "encoder.layer.{layer}.lambda_1?",
    "layer.norm2": "encoder.layer.{layer}.layernorm_after",
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "layer.scale2": "encoder.layer.{layer}.lambda_2?",
    "head_norm": "pooler.layernorm",
    "head": "classifier?"
  },
  "where": {
    "position_biases": { "layer": { "scores": { "bias": "table" } } },
    "layer.position_biases": { "layer": { "scores": { "bias": "table" } } }
  },
  "refuse": {
    "encoder.layer.0.attention.attention.key.bias": "a bias of keys",
    "layernorm.weight": "a norm of all tokens and one of their mean"
  }
})json";

const std::string_view hugging_face_beit_class_family = R"json({
  "name": "Hugging Face BEiT (class token)",
  "like": "Hugging Face BEiT",
  "model": { "readout": "class" },
  "tensors": {
    "layer.scale1": "encoder.layer.{layer}.lambda_1",
    "layer.scale2": "encoder.layer.{layer}.lambda_2",
    "final_norm": "layernorm",
    "head_norm": null
  },
  "refuse": {
    "layernorm.weight": null,
    "pooler.layernorm.weight": "a norm of the patches' mean"
  }
})json";

}  // namespace attnscope
