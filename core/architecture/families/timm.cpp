// timm's VisionTransformer, which DeiT, DINO and MAE share.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view timm_family = R"json({
  "name": "timm ViT",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "class",
    "head_activation": "tanh",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875
  },
  "reasons": {
    "heads": "64 channels a head, as in every DeiT and most ViTs",
    "input_mean": "ImageNet's, as DeiT; augreg ViTs take 0.5,0.5,0.5",
    "input_std": "ImageNet's, as DeiT; augreg ViTs take 0.5,0.5,0.5",
    "crop_fraction": "224 of 256 pixels, as DeiT evaluates"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token?",
    "distillation_token": "dist_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head.0": "pre_logits.fc?",
    "head.1": "head?",
    "distillation_head": "head_dist?"
  },
  "refuse": {
    "blocks.0.attn.q_norm.weight": "normalised queries and keys",
    "blocks.0.attn.relative_position_bias_table": "relative position biases",
    "blocks.0.gamma_1": "BEiT's layer scale and relative positions",
    "blocks.0.mlp.w12.weight": "gated MLPs",
    "reg_token": "register tokens"
  }
})json";

}  // namespace attnscope
