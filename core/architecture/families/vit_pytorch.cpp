// lucidrains' vit-pytorch. Its names changed several times, its arithmetic once: scores were scaled
// by 1/√D until January 2021, by 1/√d since. Patches are flattened as (row, column, channel) and
// embedded by a linear layer.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view vit_pytorch_family = R"json({
  "name": "vit-pytorch ViT",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "dim_head=64, its default",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'",
    "readout": "pool='cls', its default; pool='mean' is mean_all"
  },
  "tensors": {
    "patch_norm_before": "to_patch_embedding.1",
    "patch": "to_patch_embedding.2",
    "patch_norm_after": "to_patch_embedding.3",
    "class_token": "cls_token?",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.norm",
    "layer.qkv": "transformer.layers.{layer}.0.to_qkv",
    "layer.out": "transformer.layers.{layer}.0.to_out.0?",
    "layer.norm2": "transformer.layers.{layer}.1.net.0?",
    "layer.mlp1": "transformer.layers.{layer}.1.net.1?",
    "layer.mlp2": "transformer.layers.{layer}.1.net.4?",
    "final_norm": "transformer.norm?",
    "head": "mlp_head?"
  }
})json";

const std::string_view vit_pytorch_2021_family = R"json({
  "name": "vit-pytorch ViT (2021)",
  "assume": {
    "head_width": 64,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "dim_head=64, its default",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'",
    "readout": "pool='cls', its default; pool='mean' is mean_all"
  },
  "tensors": {
    "patch": ["to_patch_embedding.1", "patch_to_embedding"],
    "class_token": "cls_token?",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.to_qkv",
    "layer.out": "transformer.layers.{layer}.0.fn.to_out.0?",
    "layer.norm2": "transformer.layers.{layer}.1.norm?",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.net.0?",
    "layer.mlp2": "transformer.layers.{layer}.1.fn.net.3?",
    "head_norm": "mlp_head.0",
    "head": "mlp_head.1"
  }
})json";

const std::string_view vit_pytorch_early_2021_family = R"json({
  "name": "vit-pytorch ViT (early 2021)",
  "assume": {
    "heads": 8,
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "head_activation": "gelu",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "heads=8, its default",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'"
  },
  "tensors": {
    "patch": "to_patch_embedding.1",
    "class_token": "cls_token",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.fn.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.fn.to_qkv",
    "layer.out": "transformer.layers.{layer}.0.fn.fn.to_out.0",
    "layer.norm2": "transformer.layers.{layer}.1.fn.norm",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.fn.net.0",
    "layer.mlp2": "transformer.layers.{layer}.1.fn.fn.net.3",
    "head_norm": "mlp_head.0",
    "head": "mlp_head.1"
  }
})json";

const std::string_view vit_pytorch_2020_family = R"json({
  "name": "vit-pytorch ViT (2020)",
  "assume": {
    "heads": 8,
    "scale": "width^-1/2",
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "head_activation": "gelu",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "heads=8, its default",
    "scale": "dim**-0.5 until 21 January 2021, dim_head**-0.5 since; patch_to_embedding lasted four weeks longer",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'"
  },
  "tensors": {
    "patch": "patch_to_embedding",
    "class_token": "cls_token",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.fn.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.fn.to_qkv",
    "layer.out": "transformer.layers.{layer}.0.fn.fn.to_out.0",
    "layer.norm2": "transformer.layers.{layer}.1.fn.norm",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.fn.net.0",
    "layer.mlp2": "transformer.layers.{layer}.1.fn.fn.net.3",
    "head_norm": "mlp_head.0",
    "head": "mlp_head.1"
  }
})json";

const std::string_view vit_pytorch_autumn_2020_family = R"json({
  "name": "vit-pytorch ViT (autumn 2020)",
  "assume": {
    "heads": 8,
    "scale": "width^-1/2",
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "head_activation": "gelu",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "heads=8, its default",
    "scale": "dim**-0.5, as long as its head was an MLP",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'"
  },
  "tensors": {
    "patch": "patch_to_embedding",
    "class_token": "cls_token",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.fn.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.fn.to_qkv",
    "layer.out": "transformer.layers.{layer}.0.fn.fn.to_out.0",
    "layer.norm2": "transformer.layers.{layer}.1.fn.norm",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.fn.net.0",
    "layer.mlp2": "transformer.layers.{layer}.1.fn.fn.net.3",
    "head_norm": "mlp_head.0",
    "head.0": "mlp_head.1",
    "head.1": "mlp_head.4"
  }
})json";

const std::string_view vit_pytorch_october_2020_family = R"json({
  "name": "vit-pytorch ViT (October 2020)",
  "assume": {
    "heads": 8,
    "scale": "width^-1/2",
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "head_activation": "gelu",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "heads=8, its default",
    "scale": "dim**-0.5, as long as its head was an MLP",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'"
  },
  "tensors": {
    "patch": "patch_to_embedding",
    "class_token": "cls_token",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.fn.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.fn.to_qkv",
    "layer.out": ["transformer.layers.{layer}.0.fn.fn.to_out.0",
                  "transformer.layers.{layer}.0.fn.fn.to_out"],
    "layer.norm2": "transformer.layers.{layer}.1.fn.norm",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.fn.net.0",
    "layer.mlp2": ["transformer.layers.{layer}.1.fn.fn.net.3",
                   "transformer.layers.{layer}.1.fn.fn.net.2"],
    "head_norm": "mlp_head.0",
    "head.0": "mlp_head.1",
    "head.1": "mlp_head.3"
  }
})json";

const std::string_view vit_pytorch_first_2020_family = R"json({
  "name": "vit-pytorch ViT (first October 2020)",
  "assume": {
    "heads": 8,
    "scale": "width^-1/2",
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-5,
    "readout": "class",
    "head_activation": "gelu",
    "patch_order": "channels_last",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 1.0
  },
  "reasons": {
    "heads": "heads=8, its default",
    "scale": "dim**-0.5, as long as its head was an MLP",
    "patch_order": "its rearrange 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)'"
  },
  "tensors": {
    "patch": "patch_to_embedding",
    "class_token": "cls_token",
    "positions": "pos_embedding",
    "layer.norm1": "transformer.layers.{layer}.0.fn.norm",
    "layer.qkv": "transformer.layers.{layer}.0.fn.fn.to_qkv",
    "layer.out": ["transformer.layers.{layer}.0.fn.fn.to_out.0",
                  "transformer.layers.{layer}.0.fn.fn.to_out"],
    "layer.norm2": "transformer.layers.{layer}.1.fn.norm",
    "layer.mlp1": "transformer.layers.{layer}.1.fn.fn.net.0",
    "layer.mlp2": ["transformer.layers.{layer}.1.fn.fn.net.3",
                   "transformer.layers.{layer}.1.fn.fn.net.2"],
    "head.0": "mlp_head.0",
    "head.1": "mlp_head.2"
  }
})json";

}  // namespace attnscope
