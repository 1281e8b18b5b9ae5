// Tensor names of torchvision's VisionTransformer.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view torchvision_family = R"json({
  "name": "torchvision ViT",
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
    "resize_filter": "bilinear",
    "crop_fraction": 0.875
  },
  "reasons": {
    "heads": "64 channels a head, as vit_b_16 and vit_l_16; vit_h_14 has 80",
    "crop_fraction": "224 of 256 pixels, as vit_b_16's transforms"
  },
  "tensors": {
    "patch": "conv_proj",
    "class_token": "class_token",
    "positions": "encoder.pos_embedding",
    "layer.norm1": "encoder.layers.encoder_layer_{layer}.ln_1",
    "layer.qkv.weight": "encoder.layers.encoder_layer_{layer}.self_attention.in_proj_weight",
    "layer.qkv.bias": "encoder.layers.encoder_layer_{layer}.self_attention.in_proj_bias?",
    "layer.out": "encoder.layers.encoder_layer_{layer}.self_attention.out_proj",
    "layer.norm2": "encoder.layers.encoder_layer_{layer}.ln_2",
    "layer.mlp1": ["encoder.layers.encoder_layer_{layer}.mlp.0", "encoder.layers.encoder_layer_{layer}.mlp.linear_1"],
    "layer.mlp2": ["encoder.layers.encoder_layer_{layer}.mlp.3", "encoder.layers.encoder_layer_{layer}.mlp.linear_2"],
    "final_norm": "encoder.ln",
    "head.0": "heads.pre_logits?",
    "head.1": "heads.head?"
  }
})json";

}  // namespace attnscope
