// From an input to what a model computes with.
#pragma once

#include <optional>

#include "core/architecture/model_spec.h"
#include "core/input/input.h"

namespace attnscope {

struct PreparedInput {
  Tensor values;  ///< [C, H, W] normalised, or [N, D] for a bare encoder
  std::optional<Image>
      image;  ///< what the patches cover; none for arrays of other than 1, 3 channels
};

/// An image is brought to the model's channels, resized, centre-cropped and normalised as `spec`
/// says; one that has the model's extents already passes unchanged. An array is checked only.
/// Throws Error(usage) when the input does not fit the model.
[[nodiscard]] PreparedInput prepare_input(const Input& input, const ModelSpec& spec);

/// [C, H, W] as flattened patches in row-major order, [N, C·ph·pw], each (channel, row, column):
/// patch_stride apart, zeros in the padding.
[[nodiscard]] Tensor to_patches(const Tensor& image, const ModelSpec& spec);

}  // namespace attnscope
