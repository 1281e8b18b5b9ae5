// Dot-product and attention free transformers (DAFT) with the names of the public implementations:
// the attention of aft-pytorch and labml in the blocks of timm's VisionTransformer, and labml's
// autoregressive transformer with AFT-local. Each layer has one bias per pair of tokens, shared by
// all channels: one head.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view aft_pytorch_vit_family = R"json({
  "name": "timm ViT with DAFT (aft-pytorch)",
  "model": { "heads": 1, "mechanism": { "name": "daft-full", "parameters": { "factors": 0 } } },
  "assume": {
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
    "input_mean": "ImageNet's, as DeiT",
    "input_std": "ImageNet's, as DeiT",
    "crop_fraction": "224 of 256 pixels, as DeiT evaluates"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.query": "blocks.{layer}.attn.to_q",
    "layer.key": "blocks.{layer}.attn.to_k",
    "layer.value": "blocks.{layer}.attn.to_v",
    "layer.mechanism.w": "blocks.{layer}.attn.wbias",
    "layer.out": "blocks.{layer}.attn.project",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head": "head?"
  }
})json";

const std::string_view labml_vit_family = R"json({
  "name": "timm ViT with DAFT (labml)",
  "model": { "heads": 1, "mechanism": { "name": "daft-full", "parameters": { "factors": 0 } } },
  "assume": {
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
    "input_mean": "ImageNet's, as DeiT",
    "input_std": "ImageNet's, as DeiT",
    "crop_fraction": "224 of 256 pixels, as DeiT evaluates"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.query": "blocks.{layer}.attn.query",
    "layer.key": "blocks.{layer}.attn.key",
    "layer.value": "blocks.{layer}.attn.value",
    "layer.mechanism.w": "blocks.{layer}.attn.pos_bias",
    "layer.mechanism.local_mask": "blocks.{layer}.attn.local_mask?",
    "layer.out": "blocks.{layer}.attn.output",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head": "head?"
  }
})json";

const std::string_view labml_aft_family = R"json({
  "name": "labml AFT",
  "model": {
    "input": { "kind": "tokens" },
    "layer": { "scores": { "causal": true } },
    "heads": 1,
    "mechanism": { "name": "daft-full", "parameters": { "factors": 0 } },
    "norm_position": "pre",
    "embedding_scale": 0
  },
  "assume": { "activation": "relu", "norm_eps": 1e-5, "readout": "next_token" },
  "reasons": {
    "activation": "the default of labml's FeedForward",
    "norm_eps": "PyTorch's default"
  },
  "tensors": {
    "token_embedding": "src_embed.linear",
    "positions": ["src_embed.positional_encodings", "src_embed.pe.positional_encodings"],
    "layer.norm1": "encoder.layers.{layer}.norm_self_attn",
    "layer.query": "encoder.layers.{layer}.self_attn.query",
    "layer.key": "encoder.layers.{layer}.self_attn.key",
    "layer.value": "encoder.layers.{layer}.self_attn.value",
    "layer.mechanism.w": "encoder.layers.{layer}.self_attn.pos_bias",
    "layer.mechanism.local_mask": "encoder.layers.{layer}.self_attn.local_mask?",
    "layer.out": "encoder.layers.{layer}.self_attn.output",
    "layer.norm2": "encoder.layers.{layer}.norm_ff",
    "layer.mlp1": "encoder.layers.{layer}.feed_forward.layer1",
    "layer.mlp2": "encoder.layers.{layer}.feed_forward.layer2",
    "final_norm": "encoder.norm",
    "head": ["generator.projection", "generator"]
  },
  "refuse": {
    "encoder.layers.0.feed_forward.linear_v.weight": "gated MLPs"
  }
})json";

}  // namespace attnscope
