// The tensors of model families, by name and shape, as their libraries save them.
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

/// The same with `prefix` before every name.
[[nodiscard]] NamedShapes prefixed(const std::string& prefix, NamedShapes shapes);

}  // namespace attnscope
