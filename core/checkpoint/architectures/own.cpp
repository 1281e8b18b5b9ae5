// Our own models: timm's names, everything else stated by the file, and the LayerNorms that scale
// the outputs of adder linear layers.
#include "core/checkpoint/architectures/families.h"

namespace attnscope {

const std::string_view own_family = R"json({
  "name": "Attnscope model",
  "model": {},
  "tensors": {
    "patch": "patch_embed.proj?",
    "class_token": "cls_token?",
    "distillation_token": "dist_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.qkv_norm": "blocks.{layer}.attn.qkv_norm?",
    "layer.attention_norm": "blocks.{layer}.attn.norm?",
    "layer.out": "blocks.{layer}.attn.proj",
    "layer.out_norm": "blocks.{layer}.attn.proj_norm?",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp1_norm": "blocks.{layer}.mlp.fc1_norm?",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.mlp2_norm": "blocks.{layer}.mlp.fc2_norm?",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head.0": "pre_logits.fc?",
    "head.1": "head?",
    "distillation_head": "head_dist?"
  }
})json";

}  // namespace attnscope
