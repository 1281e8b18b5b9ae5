// Hugging Face transformers: ViTModel, ViTForImageClassification and their DeiT siblings.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view hugging_face_vit_family = R"json({
  "name": "Hugging Face ViT",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-12,
    "readout": "class",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "exact",
    "resize_filter": "bilinear",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of ViTConfig"
  },
  "tensors": {
    "patch": "embeddings.patch_embeddings.projection",
    "class_token": "embeddings.cls_token",
    "positions": "embeddings.position_embeddings",
    "layer.norm1": "encoder.layer.{layer}.layernorm_before",
    "layer.query": "encoder.layer.{layer}.attention.attention.query",
    "layer.key": "encoder.layer.{layer}.attention.attention.key",
    "layer.value": "encoder.layer.{layer}.attention.attention.value",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.norm2": "encoder.layer.{layer}.layernorm_after",
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "final_norm": "layernorm",
    "head": "classifier?"
  },
  "refuse": {
    "embeddings.distillation_token": "DeiT's second token",
    "embeddings.mask_token_type": "another family"
  }
})json";

const std::string_view hugging_face_deit_family = R"json({
  "name": "Hugging Face DeiT",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-12,
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of DeiTConfig",
    "crop_fraction": "224 of 256 pixels, as its image processor"
  },
  "tensors": {
    "patch": "embeddings.patch_embeddings.projection",
    "class_token": "embeddings.cls_token",
    "distillation_token": "embeddings.distillation_token",
    "positions": "embeddings.position_embeddings",
    "layer.norm1": "encoder.layer.{layer}.layernorm_before",
    "layer.query": "encoder.layer.{layer}.attention.attention.query",
    "layer.key": "encoder.layer.{layer}.attention.attention.key",
    "layer.value": "encoder.layer.{layer}.attention.attention.value",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.norm2": "encoder.layer.{layer}.layernorm_after",
    "layer.mlp1": "encoder.layer.{layer}.intermediate.dense",
    "layer.mlp2": "encoder.layer.{layer}.output.dense",
    "final_norm": "layernorm",
    "head": ["classifier?", "cls_classifier?"],
    "distillation_head": "distillation_classifier?"
  }
})json";

}  // namespace attnscope
