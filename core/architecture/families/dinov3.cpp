// DINOv3's vision transformers with the names of torch.hub and of Hugging Face.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view dinov3_family = R"json({
  "name": "DINOv3",
  "model": {
    "positions": { "kind": "none" },
    "layer": { "rotary": { "form": "half", "grid": "patches" } }
  },
  "assume": {
    "input": {
      "image_height": 224,
      "image_width": 224,
      "mean": [0.485, 0.456, 0.406],
      "std": [0.229, 0.224, 0.225],
      "resize_mode": "exact",
      "resize_filter": "bicubic",
      "crop_fraction": 1.0
    },
    "layer": {
      "norm": { "position": "pre", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in every published DINOv3 but the largest",
    "norm_eps": "layernormbf16, as its authors build it",
    "input_mean": "ImageNet's, as its authors evaluate",
    "input_std": "ImageNet's, as its authors evaluate"
  },
  "tensors": {
    "patch": "patch_embed.proj",
    "class_token": "cls_token",
    "register_tokens": "storage_tokens?",
    "mask_token": "mask_token?",
    "rotary_periods": "rope_embed.periods",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.key_bias_mask": "blocks.{layer}.attn.qkv.bias_mask?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp_gate": "blocks.{layer}.mlp.w1?",
    "layer.mlp1": ["blocks.{layer}.mlp.fc1", "blocks.{layer}.mlp.w2"],
    "layer.mlp2": ["blocks.{layer}.mlp.fc2", "blocks.{layer}.mlp.w3"],
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": ["norm", "cls_norm"]
  },
  "where": {
    "layer.mlp_gate.weight": { "layer": { "mlp": { "activation": "silu" } } }
  },
  "refuse": {
    "pos_embed": "learned positions"
  }
})json";

const std::string_view hugging_face_dinov3_family = R"json({
  "name": "Hugging Face DINOv3",
  "model": {
    "positions": { "kind": "none" },
    "layer": { "rotary": { "form": "half", "grid": "patches" } }
  },
  "assume": {
    "input": {
      "image_height": 224,
      "image_width": 224,
      "mean": [0.485, 0.456, 0.406],
      "std": [0.229, 0.224, 0.225],
      "resize_mode": "exact",
      "resize_filter": "bilinear",
      "crop_fraction": 1.0
    },
    "layer": {
      "norm": { "position": "pre", "eps": 1e-5 },
      "attention": { "head_width": 64 },
      "rotary": { "theta": 100 },
      "mlp": { "activation": "gelu" }
    },
    "readout": { "kind": "none" }
  },
  "reasons": {
    "heads": "64 channels a head, as in every published DINOv3 but the largest",
    "norm_eps": "the default of DINOv3ViTConfig",
    "layer.rotary.theta": "the default of DINOv3ViTConfig"
  },
  "tensors": {
    "patch": "embeddings.patch_embeddings",
    "class_token": "embeddings.cls_token",
    "register_tokens": "embeddings.register_tokens",
    "mask_token": "embeddings.mask_token?",
    "layer.norm1": "layer.{layer}.norm1",
    "layer.query": "layer.{layer}.attention.q_proj",
    "layer.key": "layer.{layer}.attention.k_proj",
    "layer.value": "layer.{layer}.attention.v_proj",
    "layer.out": "layer.{layer}.attention.o_proj",
    "layer.scale1": "layer.{layer}.layer_scale1.lambda1",
    "layer.norm2": "layer.{layer}.norm2",
    "layer.mlp_gate": "layer.{layer}.mlp.gate_proj?",
    "layer.mlp1": "layer.{layer}.mlp.up_proj",
    "layer.mlp2": "layer.{layer}.mlp.down_proj",
    "layer.scale2": "layer.{layer}.layer_scale2.lambda1",
    "final_norm": "norm"
  },
  "where": {
    "layer.mlp_gate.weight": { "layer": { "mlp": { "activation": "silu" } } }
  }
})json";

}  // namespace attnscope
