// Deduces a model's spec from its tensors and lists what remains to be assumed: one function per
// kind of model, and ViTDeduction for images.
#pragma once

#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

/// Fills spec, assumptions and position grid of a text model from a complete match. Throws Error if
/// a stated or overridden value contradicts the tensors' shapes.
[[nodiscard]] Architecture deduce_text_model(const DeductionInput& input);

/// Like deduce_text_model, for an encoder with two convolutions before its layers (Whisper).
[[nodiscard]] Architecture deduce_sound_model(const DeductionInput& input);

/// Like deduce_text_model, for pyramids. Widths, depths, kernels, reductions and MLPs follow from
/// the shapes; heads from hash buffers or relative position tables, otherwise from `head_width` or
/// an assumption; strides and windows are assumed (`stages` sets them all).
[[nodiscard]] Architecture deduce_pyramid(const DeductionInput& input);

}  // namespace attnscope
