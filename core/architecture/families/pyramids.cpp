// Pyramids: PVTv2 (also with EcoFormer's hashed attention) with the names of its authors and of
// timm, and Twins-SVT, whose names are the same in timm.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view pvt_v2_family = R"json({
  "name": "PVTv2",
  "model": { "input": { "kind": "stages" } },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "embedding_norm_eps": 1e-5,
    "readout": "mean",
    "class_tokens": 0,
    "positions": "none",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875
  },
  "reasons": {
    "crop_fraction": "224 of 256 pixels, as PVTv2 evaluates"
  },
  "first_stage": 1,
  "tensors": {
    "stage.patch": "patch_embed{stage}.proj",
    "stage.patch_norm": "patch_embed{stage}.norm",
    "stage.norm": "norm{stage}",
    "layer.norm1": "block{stage}.{block}.norm1",
    "layer.query": "block{stage}.{block}.attn.q?",
    "layer.key_value": "block{stage}.{block}.attn.kv?",
    "layer.reduction": "block{stage}.{block}.attn.sr?",
    "layer.reduction_norm": "block{stage}.{block}.attn.norm?",
    "layer.qkv": "block{stage}.{block}.attn.qkv?",
    "layer.query_key": "block{stage}.{block}.attn.to_qk?",
    "layer.value": "block{stage}.{block}.attn.to_v?",
    "layer.mechanism.ksh.A": "block{stage}.{block}.attn.fast_attention.ksh.A?",
    "layer.mechanism.ksh.mvec": "block{stage}.{block}.attn.fast_attention.ksh.mvec?",
    "layer.mechanism.ksh.anchor": "block{stage}.{block}.attn.fast_attention.ksh.anchor?",
    "layer.out": "block{stage}.{block}.attn.proj",
    "layer.norm2": "block{stage}.{block}.norm2",
    "layer.mlp1": "block{stage}.{block}.mlp.fc1",
    "layer.mlp_convolution": "block{stage}.{block}.mlp.dwconv.dwconv",
    "layer.mlp2": "block{stage}.{block}.mlp.fc2",
    "head": "head?"
  }
})json";

const std::string_view timm_pvt_v2_family = R"json({
  "name": "timm PVTv2",
  "model": { "input": { "kind": "stages" } },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "embedding_norm_eps": 1e-5,
    "readout": "mean",
    "class_tokens": 0,
    "positions": "none",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.9
  },
  "reasons": {
    "crop_fraction": "timm's for PVTv2"
  },
  "first_stage": 0,
  "tensors": {
    "stage.patch": ["stages.{stage}.downsample.proj", "patch_embed.proj"],
    "stage.patch_norm": ["stages.{stage}.downsample.norm", "patch_embed.norm"],
    "stage.norm": "stages.{stage}.norm",
    "layer.norm1": "stages.{stage}.blocks.{block}.norm1",
    "layer.query": "stages.{stage}.blocks.{block}.attn.q",
    "layer.key_value": "stages.{stage}.blocks.{block}.attn.kv",
    "layer.reduction": "stages.{stage}.blocks.{block}.attn.sr?",
    "layer.reduction_norm": "stages.{stage}.blocks.{block}.attn.norm?",
    "layer.out": "stages.{stage}.blocks.{block}.attn.proj",
    "layer.norm2": "stages.{stage}.blocks.{block}.norm2",
    "layer.mlp1": "stages.{stage}.blocks.{block}.mlp.fc1",
    "layer.mlp_convolution": "stages.{stage}.blocks.{block}.mlp.dwconv",
    "layer.mlp2": "stages.{stage}.blocks.{block}.mlp.fc2",
    "head": "head?"
  }
})json";

const std::string_view twins_family = R"json({
  "name": "Twins",
  "model": { "input": { "kind": "stages" } },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "embedding_norm_eps": 1e-5,
    "readout": "mean",
    "class_tokens": 0,
    "positions": "none",
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "crop_fraction": 0.875
  },
  "reasons": {
    "crop_fraction": "224 of 256 pixels, as Twins evaluates"
  },
  "first_stage": 0,
  "tensors": {
    "stage.patch": "patch_embeds.{stage}.proj",
    "stage.patch_norm": "patch_embeds.{stage}.norm",
    "stage.positions": "pos_block.{stage}.proj.0",
    "layer.norm1": "blocks.{stage}.{block}.norm1",
    "layer.windowed_qkv": "blocks.{stage}.{block}.attn.qkv?",
    "layer.query": "blocks.{stage}.{block}.attn.q?",
    "layer.key_value": "blocks.{stage}.{block}.attn.kv?",
    "layer.reduction": "blocks.{stage}.{block}.attn.sr?",
    "layer.reduction_norm": "blocks.{stage}.{block}.attn.norm?",
    "layer.out": "blocks.{stage}.{block}.attn.proj",
    "layer.norm2": "blocks.{stage}.{block}.norm2",
    "layer.mlp1": "blocks.{stage}.{block}.mlp.fc1",
    "layer.mlp2": "blocks.{stage}.{block}.mlp.fc2",
    "final_norm": "norm",
    "head": "head?"
  }
})json";

}  // namespace attnscope
