// CaiT (Touvron et al. 2021) with the names of timm and of its authors: talking-heads attention
// among the patches, then layers in which the class token, added there, attends to all tokens.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view cait_family = R"json({
  "name": "CaiT",
  "model": { "mechanism": "talking-heads", "tail": { "kind": "class_attention" } },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "class",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0,
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "input_mean": "ImageNet's, as its authors evaluate",
    "input_std": "ImageNet's, as its authors evaluate",
    "crop_fraction": "as its authors evaluate"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token",
    "positions": "pos_embed",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.mechanism.proj_l": "blocks.{layer}.attn.proj_l.weight",
    "layer.mechanism.proj_l_bias": "blocks.{layer}.attn.proj_l.bias",
    "layer.mechanism.proj_w": "blocks.{layer}.attn.proj_w.weight",
    "layer.mechanism.proj_w_bias": "blocks.{layer}.attn.proj_w.bias",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.gamma_1",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.gamma_2",
    "tail.norm1": "blocks_token_only.{layer}.norm1",
    "tail.query": "blocks_token_only.{layer}.attn.q",
    "tail.key": "blocks_token_only.{layer}.attn.k",
    "tail.value": "blocks_token_only.{layer}.attn.v",
    "tail.out": "blocks_token_only.{layer}.attn.proj",
    "tail.scale1": "blocks_token_only.{layer}.gamma_1",
    "tail.norm2": "blocks_token_only.{layer}.norm2",
    "tail.mlp1": "blocks_token_only.{layer}.mlp.fc1",
    "tail.mlp2": "blocks_token_only.{layer}.mlp.fc2",
    "tail.scale2": "blocks_token_only.{layer}.gamma_2",
    "final_norm": "norm",
    "head": "head?"
  }
})json";

}  // namespace attnscope
