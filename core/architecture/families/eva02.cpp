// EVA-02 in timm: rotary positions on the grid of patches, a gated MLP that may have an inner norm,
// keys without bias. timm's own ViTs with the same code have registers and a layer scale.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view timm_eva02_family = R"json({
  "name": "timm EVA-02",
  "model": {
    "layer": {
      "rotary": { "form": "pair", "grid": "cells" },
      "mlp": { "form": "gated" }
    }
  },
  "assume": {
    "head_width": 64,
    "activation": "silu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "class",
    "layer": { "rotary": { "theta": 10000, "trained_side": 16 } },
    "input_mean": [0.48145466, 0.4578275, 0.40821073],
    "input_std": [0.26862954, 0.26130258, 0.27577711],
    "resize_mode": "exact",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0,
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "heads": "64 channels a head, as every EVA-02",
    "layer.rotary.trained_side": "16, as every EVA-02 was trained",
    "input_mean": "CLIP's, as timm evaluates",
    "input_std": "CLIP's, as timm evaluates"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token",
    "positions": "pos_embed",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv.weight": "blocks.{layer}.attn.qkv.weight?",
    "layer.query.weight": "blocks.{layer}.attn.q_proj.weight?",
    "layer.query.bias": ["blocks.{layer}.attn.q_proj.bias", "blocks.{layer}.attn.q_bias"],
    "layer.key.weight": "blocks.{layer}.attn.k_proj.weight?",
    "layer.value.weight": "blocks.{layer}.attn.v_proj.weight?",
    "layer.value.bias": ["blocks.{layer}.attn.v_proj.bias", "blocks.{layer}.attn.v_bias"],
    "layer.heads_norm": "blocks.{layer}.attn.norm?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp_gate": "blocks.{layer}.mlp.fc1_g?",
    "layer.mlp1": ["blocks.{layer}.mlp.fc1_x", "blocks.{layer}.mlp.fc1"],
    "layer.mlp_norm": "blocks.{layer}.mlp.norm?",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head": "head?"
  },
  "where": {
    "head_norm.weight": { "readout": "mean" }
  },
  "refuse": {
    "reg_token": "register tokens",
    "blocks.0.gamma_1": "a layer scale",
    "blocks.0.attn.relative_position_bias_table": "relative position biases"
  }
})json";

const std::string_view timm_rope_vit_family = R"json({
  "name": "timm ViT with rotary positions",
  "model": {
    "positions": "none",
    "layer": {
      "rotary": { "form": "pair", "grid": "cells" },
      "mlp": { "form": "plain" }
    }
  },
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "mean",
    "layer": { "rotary": { "theta": 10000, "trained_side": 16 } },
    "input": { "image_height": 256, "image_width": 256 },
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.95
  },
  "reasons": {
    "heads": "64 channels a head, as every one of them",
    "image_height": "as they were trained",
    "image_width": "as they were trained",
    "layer.rotary.trained_side": "16, as they were trained",
    "input_mean": "as timm evaluates all but betwixt, which has CLIP's",
    "input_std": "as timm evaluates all but betwixt, which has CLIP's",
    "crop_fraction": "as timm evaluates"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "register_tokens": "reg_token",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv.weight": "blocks.{layer}.attn.qkv.weight",
    "layer.query.bias": "blocks.{layer}.attn.q_bias?",
    "layer.value.bias": "blocks.{layer}.attn.v_bias?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.gamma_1",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.gamma_2",
    "head_norm": "fc_norm",
    "head": "head?"
  },
  "refuse": {
    "cls_token": "a class token",
    "pos_embed": "learned positions",
    "blocks.0.attn.qkv.bias": "one bias of queries, keys and values"
  }
})json";

}  // namespace attnscope
