// ViTs of Google's vision_transformer and big_vision with the names of Flax layers: kernels are
// [in, out], those of attention [D, H, d] and [H, d, D]. big_vision may stack all layers in one
// tensor.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view jax_vit_family = R"json({
  "name": "JAX ViT",
  "assume": {
    "activation": "gelu_tanh",
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "readout": "mean",
    "head_activation": "tanh",
    "input_mean": [0.5, 0.5, 0.5],
    "input_std": [0.5, 0.5, 0.5],
    "resize_mode": "exact",
    "resize_filter": "bilinear",
    "crop_fraction": 1.0,
    "position_resize": "bicubic_antialiased"
  },
  "reasons": {
    "activation": "Flax's gelu; timm runs the same files with the exact one",
    "norm_eps": "Flax's default",
    "position_resize": "as timm does with these files; their authors resize by a spline of order 1"
  },
  "where": {
    "class_token": { "readout": "class" },
    "pooling.probe": { "readout": "attention_pooling" }
  },
  "tensors": {
    "patch.weight": { "pattern": "embedding/kernel", "axes": [3, 2, 0, 1] },
    "patch.bias": "embedding/bias",
    "class_token": "cls?",
    "positions": ["Transformer/posembed_input/pos_embedding", "Transformer/pos_embedding", "pos_embedding"],
    "layer.norm1.weight": "Transformer/encoderblock_{layer}/LayerNorm_0/scale",
    "layer.norm1.bias": "Transformer/encoderblock_{layer}/LayerNorm_0/bias",
    "layer.query.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/query/kernel", "axes": [[1, 2], 0] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/query/kernel", "axes": [[1, 2], 0] }],
    "layer.query.bias": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/query/bias", "axes": [[0, 1]] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/query/bias", "axes": [[0, 1]] }],
    "layer.key.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/key/kernel", "axes": [[1, 2], 0] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/key/kernel", "axes": [[1, 2], 0] }],
    "layer.key.bias": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/key/bias", "axes": [[0, 1]] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/key/bias", "axes": [[0, 1]] }],
    "layer.value.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/value/kernel", "axes": [[1, 2], 0] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/value/kernel", "axes": [[1, 2], 0] }],
    "layer.value.bias": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/value/bias", "axes": [[0, 1]] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/value/bias", "axes": [[0, 1]] }],
    "layer.out.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/out/kernel", "axes": [2, [0, 1]] },
      { "pattern": "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/out/kernel", "axes": [2, [0, 1]] }],
    "layer.out.bias": ["Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_1/out/bias",
                       "Transformer/encoderblock_{layer}/MultiHeadDotProductAttention_0/out/bias"],
    "layer.norm2.weight": ["Transformer/encoderblock_{layer}/LayerNorm_2/scale",
                           "Transformer/encoderblock_{layer}/LayerNorm_1/scale"],
    "layer.norm2.bias": ["Transformer/encoderblock_{layer}/LayerNorm_2/bias",
                         "Transformer/encoderblock_{layer}/LayerNorm_1/bias"],
    "layer.mlp1.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MlpBlock_3/Dense_0/kernel", "transposed": true },
      { "pattern": "Transformer/encoderblock_{layer}/MlpBlock_0/Dense_0/kernel", "transposed": true }],
    "layer.mlp1.bias": ["Transformer/encoderblock_{layer}/MlpBlock_3/Dense_0/bias",
                        "Transformer/encoderblock_{layer}/MlpBlock_0/Dense_0/bias"],
    "layer.mlp2.weight": [
      { "pattern": "Transformer/encoderblock_{layer}/MlpBlock_3/Dense_1/kernel", "transposed": true },
      { "pattern": "Transformer/encoderblock_{layer}/MlpBlock_0/Dense_1/kernel", "transposed": true }],
    "layer.mlp2.bias": ["Transformer/encoderblock_{layer}/MlpBlock_3/Dense_1/bias",
                        "Transformer/encoderblock_{layer}/MlpBlock_0/Dense_1/bias"],
    "final_norm.weight": "Transformer/encoder_norm/scale",
    "final_norm.bias": "Transformer/encoder_norm/bias",
    "pooling.probe": "MAPHead_0/probe?",
    "pooling.query.weight": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/query/kernel", "axes": [[1, 2], 0], "optional": true },
    "pooling.query.bias": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/query/bias", "axes": [[0, 1]], "optional": true },
    "pooling.key.weight": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/key/kernel", "axes": [[1, 2], 0], "optional": true },
    "pooling.key.bias": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/key/bias", "axes": [[0, 1]], "optional": true },
    "pooling.value.weight": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/value/kernel", "axes": [[1, 2], 0], "optional": true },
    "pooling.value.bias": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/value/bias", "axes": [[0, 1]], "optional": true },
    "pooling.out.weight": { "pattern": "MAPHead_0/MultiHeadDotProductAttention_0/out/kernel", "axes": [2, [0, 1]], "optional": true },
    "pooling.out.bias": "MAPHead_0/MultiHeadDotProductAttention_0/out/bias?",
    "pooling.norm.weight": "MAPHead_0/LayerNorm_0/scale?",
    "pooling.norm.bias": "MAPHead_0/LayerNorm_0/bias?",
    "pooling.mlp1.weight": { "pattern": "MAPHead_0/MlpBlock_0/Dense_0/kernel", "transposed": true, "optional": true },
    "pooling.mlp1.bias": "MAPHead_0/MlpBlock_0/Dense_0/bias?",
    "pooling.mlp2.weight": { "pattern": "MAPHead_0/MlpBlock_0/Dense_1/kernel", "transposed": true, "optional": true },
    "pooling.mlp2.bias": "MAPHead_0/MlpBlock_0/Dense_1/bias?",
    "head.0.weight": { "pattern": "pre_logits/kernel", "transposed": true, "optional": true },
    "head.0.bias": "pre_logits/bias?",
    "head.1.weight": { "pattern": "head/kernel", "transposed": true, "optional": true },
    "head.1.bias": "head/bias?"
  },
  "refuse": {
    "conv_root/kernel": "a ResNet before the patches"
  }
})json";

const std::string_view jax_vit_stacked_family = R"json({
  "name": "JAX ViT (stacked layers)",
  "like": "JAX ViT",
  "tensors": {
    "layer.norm1.weight": { "pattern": "Transformer/encoderblock/LayerNorm_0/scale", "layer_axis": 0 },
    "layer.norm1.bias": { "pattern": "Transformer/encoderblock/LayerNorm_0/bias", "layer_axis": 0 },
    "layer.query.weight": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/query/kernel", "layer_axis": 0, "axes": [[1, 2], 0] },
    "layer.query.bias": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/query/bias", "layer_axis": 0, "axes": [[0, 1]] },
    "layer.key.weight": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/key/kernel", "layer_axis": 0, "axes": [[1, 2], 0] },
    "layer.key.bias": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/key/bias", "layer_axis": 0, "axes": [[0, 1]] },
    "layer.value.weight": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/value/kernel", "layer_axis": 0, "axes": [[1, 2], 0] },
    "layer.value.bias": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/value/bias", "layer_axis": 0, "axes": [[0, 1]] },
    "layer.out.weight": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/out/kernel", "layer_axis": 0, "axes": [2, [0, 1]] },
    "layer.out.bias": { "pattern": "Transformer/encoderblock/MultiHeadDotProductAttention_0/out/bias", "layer_axis": 0 },
    "layer.norm2.weight": { "pattern": "Transformer/encoderblock/LayerNorm_1/scale", "layer_axis": 0 },
    "layer.norm2.bias": { "pattern": "Transformer/encoderblock/LayerNorm_1/bias", "layer_axis": 0 },
    "layer.mlp1.weight": { "pattern": "Transformer/encoderblock/MlpBlock_0/Dense_0/kernel", "layer_axis": 0, "transposed": true },
    "layer.mlp1.bias": { "pattern": "Transformer/encoderblock/MlpBlock_0/Dense_0/bias", "layer_axis": 0 },
    "layer.mlp2.weight": { "pattern": "Transformer/encoderblock/MlpBlock_0/Dense_1/kernel", "layer_axis": 0, "transposed": true },
    "layer.mlp2.bias": { "pattern": "Transformer/encoderblock/MlpBlock_0/Dense_1/bias", "layer_axis": 0 }
  }
})json";

}  // namespace attnscope
