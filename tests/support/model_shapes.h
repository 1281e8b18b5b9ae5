// The tensors of model families by name and shape, as their libraries save them.
#pragma once

#include "tests/support/hashed_weights.h"

namespace attnscope {

struct VitExtents {
  std::int64_t width = 64, layers = 2, image = 32, patch = 8, classes = 10, channels = 3;
  std::int64_t mlp_width = 256;
  [[nodiscard]] std::int64_t patches() const { return (image / patch) * (image / patch); }
};

[[nodiscard]] NamedShapes timm_shapes(const VitExtents& extents, bool distilled = false);
[[nodiscard]] NamedShapes hugging_face_shapes(const VitExtents& extents, bool deit = false);
[[nodiscard]] NamedShapes torchvision_shapes(const VitExtents& extents);
/// `inner` is heads × dim_head.
[[nodiscard]] NamedShapes vit_pytorch_shapes(const VitExtents& extents, std::int64_t inner);
[[nodiscard]] NamedShapes vit_pytorch_2021_shapes(const VitExtents& extents, std::int64_t inner);
[[nodiscard]] NamedShapes torch_encoder_shapes(std::int64_t width, std::int64_t mlp_width,
                                               std::int64_t layers);

/// timm's ViT with DAFT under the names of aft-pytorch. `inner` is the width of queries, keys and
/// values.
[[nodiscard]] NamedShapes aft_pytorch_vit_shapes(const VitExtents& extents, std::int64_t inner);
/// timm's ViT with DAFT under labml's names, without class token and positions.
[[nodiscard]] NamedShapes labml_vit_shapes(const VitExtents& extents);

struct TextExtents {
  std::int64_t width = 40, layers = 2, mlp_width = 64, vocabulary = 29, context = 24;
  std::int64_t heads = 4, classes = 4, positions = 40;
};

/// labml's autoregressive transformer with AFT-local. Its biases are for `context` tokens.
[[nodiscard]] NamedShapes labml_aft_shapes(const TextExtents& extents);
/// The classifier of Wu et al.
[[nodiscard]] NamedShapes fastformer_shapes(const TextExtents& extents);

/// labml's local_mask for `tokens` tokens: 1 for the last `window` tokens including the token
/// itself.
[[nodiscard]] Tensor local_mask(std::int64_t tokens, std::int64_t window);

/// `shapes` with `prefix` before every name.
[[nodiscard]] NamedShapes prefixed(const std::string& prefix, NamedShapes shapes);

}  // namespace attnscope
