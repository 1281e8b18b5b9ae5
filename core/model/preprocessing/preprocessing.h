// From an input to what a model computes with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/input/input.h"

namespace attnscope {

struct PreparedInput {
  /// [C, H, W] normalised, [N, D] for a bare encoder, [bands, frames] of a sound.
  Tensor values;
  /// What the patches cover; none for arrays of other than 1, 3 channels.
  std::optional<Image> image;
  std::vector<std::string> texts = {};  ///< of a sound, when each token begins: "0.02 s"
};

/// An image is brought to the model's channels, resized, centre-cropped and normalised as `spec`
/// says; one that has the model's extents already passes unchanged. A sound, followed by silence,
/// becomes the spectrum log_mel gives. An array is checked only. Throws Error(usage) when the input
/// does not fit the model.
[[nodiscard]] PreparedInput prepare_input(const Input& input, const ModelSpec& spec);

/// [C, H, W], an image or what the stem gives of it, as flattened patches in row-major order,
/// [N, C·ph·pw], each (channel, row, column): patch_stride apart, zeros in the padding.
[[nodiscard]] Tensor to_patches(const Tensor& image, const ModelSpec& spec);

}  // namespace attnscope
