// timm's VisionTransformer, which DeiT, DINO and MAE share, and DINOv2 in its authors' form.
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
    "crop_fraction": 0.875,
    "position_resize": "bicubic_antialiased"
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
    "register_tokens": "reg_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.query_norm": "blocks.{layer}.attn.q_norm?",
    "layer.key_norm": "blocks.{layer}.attn.k_norm?",
    "layer.heads_norm": "blocks.{layer}.attn.norm?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "pooling.probe": "attn_pool.latent?",
    "pooling.query": "attn_pool.q?",
    "pooling.key_value": "attn_pool.kv?",
    "pooling.out": "attn_pool.proj?",
    "pooling.norm": "attn_pool.norm?",
    "pooling.mlp1": "attn_pool.mlp.fc1?",
    "pooling.mlp2": "attn_pool.mlp.fc2?",
    "head.0": "pre_logits.fc?",
    "head.1": "head?",
    "distillation_head": "head_dist?"
  },
  "where": {
    "embedding_norm.weight": { "norm_eps": 1e-5 },
    "pooling.probe": { "readout": "attention_pooling" },
    "layer.mlp_gate_and_mlp1.weight": { "activation": "silu" }
  },
  "refuse": {
    "blocks.0.attn.relative_position_bias_table": "relative position biases",
    "blocks.0.attn.rel_pos.relative_position_bias_table": "relative position biases",
    "blocks.0.gamma_1": "BEiT's layer scale and relative positions",
    "register_tokens": "DINOv2's registers",
    "rope_embed.periods": "DINOv3's rotary positions",
    "storage_tokens": "DINOv3's registers"
  }
})json";

const std::string_view dinov2_family = R"json({
  "name": "DINOv2",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "none",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875,
    "position_resize": "bicubic_offset"
  },
  "reasons": {
    "heads": "64 channels a head, as in every published DINOv2",
    "input_mean": "ImageNet's, as its authors evaluate",
    "input_std": "ImageNet's, as its authors evaluate",
    "crop_fraction": "224 of 256 pixels, as its authors evaluate",
    "position_resize": "as its authors do: an offset of 0.1, with registers antialiased instead"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token",
    "register_tokens": "register_tokens?",
    "positions": "pos_embed",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.ls1.gamma",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1?",
    "layer.mlp_gate_and_mlp1": "blocks.{layer}.mlp.w12?",
    "layer.mlp2": ["blocks.{layer}.mlp.fc2", "blocks.{layer}.mlp.w3"],
    "layer.scale2": "blocks.{layer}.ls2.gamma",
    "final_norm": "norm",
    "mask_token": "mask_token"
  },
  "where": {
    "register_tokens": { "position_resize": "bicubic_antialiased" },
    "layer.mlp_gate_and_mlp1.weight": { "activation": "silu" }
  },
  "refuse": {
    "rope_embed.periods": "DINOv3's rotary positions",
    "storage_tokens": "DINOv3's registers",
    "reg_token": "timm's registers"
  }
})json";

}  // namespace attnscope
