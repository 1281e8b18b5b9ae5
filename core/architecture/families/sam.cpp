// SAM's image encoder (Kirillov et al. 2023), a plain ViT with windows and decomposed relative
// positions (Li et al. 2022, ViTDet), with the names of its authors, of Hugging Face and of timm.
// The neck after the layers has no attention and is not run.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view sam_family = R"json({
  "name": "SAM image encoder",
  "model": {
    "layer": { "scores": { "bias": "decomposed", "window_form": "tiles" } },
    "readout": "none"
  },
  "assume": {
    "activation": "gelu",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
    "resize_mode": "exact",
    "resize_filter": "bilinear",
    "crop_fraction": 1.0
  },
  "reasons": {
    "input_mean": "ImageNet's, as its authors prepare images",
    "input_std": "ImageNet's, as its authors prepare images",
    "resize_mode": "its authors keep the proportions and fill the rest of the square with zeros",
    "norm_eps": "as its authors build it"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "positions": { "pattern": "pos_embed", "axes": [[0, 1, 2], 3] },
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.relative_rows": "blocks.{layer}.attn.rel_pos_h",
    "layer.relative_columns": "blocks.{layer}.attn.rel_pos_w",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.lin1",
    "layer.mlp2": "blocks.{layer}.mlp.lin2"
  },
  "harmless": ["neck.*"]
})json";

const std::string_view hugging_face_sam_family = R"json({
  "name": "Hugging Face SAM",
  "like": "SAM image encoder",
  "reasons": { "norm_eps": "the default of SamVisionConfig" },
  "tensors": {
    "patch": "patch_embed.projection",
    "layer.norm1": "layers.{layer}.layer_norm1",
    "layer.qkv": "layers.{layer}.attn.qkv",
    "layer.relative_rows": "layers.{layer}.attn.rel_pos_h",
    "layer.relative_columns": "layers.{layer}.attn.rel_pos_w",
    "layer.out": "layers.{layer}.attn.proj",
    "layer.norm2": "layers.{layer}.layer_norm2",
    "layer.mlp1": "layers.{layer}.mlp.lin1",
    "layer.mlp2": "layers.{layer}.mlp.lin2"
  }
})json";

const std::string_view timm_sam_family = R"json({
  "name": "timm SAM",
  "like": "SAM image encoder",
  "assume": {
    "norm_eps": 1e-5,
    "resize_mode": "shorter_side",
    "resize_filter": "bicubic",
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "resize_mode": "as timm prepares images",
    "norm_eps": "PyTorch's default, as timm builds it; its authors have 1e-6"
  },
  "tensors": {
    "positions": { "pattern": "pos_embed", "axes": [[0, 1, 2], 3], "optional": true },
    "embedding_norm": "norm_pre?",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.ls2.gamma?"
  }
})json";

}  // namespace attnscope
