// Tensor names of PyTorch's nn.TransformerEncoder, a bare encoder of given tokens [N, D].
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view torch_encoder_family = R"json({
  "name": "PyTorch TransformerEncoder",
  "model": {
    "patch_height": 0,
    "patch_width": 0,
    "class_tokens": 0,
    "positions": "none",
    "readout": "none"
  },
  "assume": {
    "head_width": 64,
    "activation": "relu",
    "norm_position": "post",
    "norm_eps": 1e-5
  },
  "reasons": {
    "activation": "the default of nn.TransformerEncoderLayer",
    "norm_position": "norm_first=False, the default of nn.TransformerEncoderLayer",
    "norm_eps": "the default of nn.TransformerEncoderLayer"
  },
  "tensors": {
    "layer.norm1": "layers.{layer}.norm1",
    "layer.qkv.weight": "layers.{layer}.self_attn.in_proj_weight",
    "layer.qkv.bias": "layers.{layer}.self_attn.in_proj_bias?",
    "layer.out": "layers.{layer}.self_attn.out_proj",
    "layer.norm2": "layers.{layer}.norm2",
    "layer.mlp1": "layers.{layer}.linear1",
    "layer.mlp2": "layers.{layer}.linear2",
    "final_norm": "norm?"
  },
  "refuse": {
    "layers.0.multihead_attn.in_proj_weight": "a decoder's cross attention"
  }
})json";

}  // namespace attnscope
