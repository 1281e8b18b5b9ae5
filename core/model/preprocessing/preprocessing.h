// Converts an input to the tensor that a model computes with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/input/input.h"

namespace attnscope {

struct PreparedInput {
  /// Normalised pixels [C, H, W], tokens [N, D] for a bare encoder, or a spectrum [bands, frames].
  Tensor values;
  /// The image that the patches cover; empty for arrays that do not have 1 or 3 channels.
  std::optional<Image> image;
  std::vector<std::string> texts = {};  ///< start time of each token of a sound: "0.02 s"
};

/// Converts an image to the model's channels, then resizes, centre-crops and normalises it as
/// `spec` specifies; an image of the model's size is not resized if crop_fraction is 1, and one
/// that keeps its size (InputSpec::most_pixels) is resized to size_in_steps. A sound is padded with
/// silence and converted by log_mel. An array is only checked. Of a text about a picture a model of
/// images reads the picture. Throws Error(usage) if the input does not fit the model.
[[nodiscard]] PreparedInput prepare_input(const Input& input, const ModelSpec& spec);

/// Normalised pixels [C, H, W] of an image of the model's channels.
[[nodiscard]] Tensor normalised_pixels(const Image& image, const ModelSpec& spec);

/// Cuts an image or the stem's output [C, H, W] into flattened patches in row-major order, [N,
/// C·ph·pw], each (channel, row, column): patch_stride apart, with zeros in the padding.
[[nodiscard]] Tensor to_patches(const Tensor& image, const ModelSpec& spec);

}  // namespace attnscope
