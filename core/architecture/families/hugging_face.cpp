// Tensor names of Hugging Face's ViTModel and ViTForImageClassification and of their DeiT and
// DINOv2 counterparts.
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

const std::string_view hugging_face_dinov2_family = R"json({
  "name": "Hugging Face DINOv2",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "class_and_mean",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875,
    "position_resize": "bicubic"
  },
  "reasons": {
    "heads": "64 channels a head, as in the published configurations",
    "norm_eps": "the default of Dinov2Config",
    "readout": "as Dinov2ForImageClassification reads out",
    "crop_fraction": "224 of 256 pixels, as its image processor",
    "position_resize": "as Dinov2Model does, with registers antialiased"
  },
  "tensors": {
    "patch": "embeddings.patch_embeddings.projection",
    "class_token": "embeddings.cls_token",
    "register_tokens": "embeddings.register_tokens?",
    "mask_token": "embeddings.mask_token?",
    "positions": "embeddings.position_embeddings",
    "layer.norm1": "encoder.layer.{layer}.norm1",
    "layer.query": "encoder.layer.{layer}.attention.attention.query",
    "layer.key": "encoder.layer.{layer}.attention.attention.key",
    "layer.value": "encoder.layer.{layer}.attention.attention.value",
    "layer.out": "encoder.layer.{layer}.attention.output.dense",
    "layer.scale1": "encoder.layer.{layer}.layer_scale1.lambda1",
    "layer.norm2": "encoder.layer.{layer}.norm2",
    "layer.mlp1": "encoder.layer.{layer}.mlp.fc1?",
    "layer.mlp_gate_and_mlp1": "encoder.layer.{layer}.mlp.weights_in?",
    "layer.mlp2": ["encoder.layer.{layer}.mlp.fc2", "encoder.layer.{layer}.mlp.weights_out"],
    "layer.scale2": "encoder.layer.{layer}.layer_scale2.lambda1",
    "final_norm": "layernorm",
    "head": "classifier?"
  },
  "where": {
    "register_tokens": { "position_resize": "bicubic_antialiased" },
    "layer.mlp_gate_and_mlp1.weight": { "activation": "silu" }
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
