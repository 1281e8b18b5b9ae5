// Deduces the spec of an audio model from its tensors.
#pragma once

#include "core/architecture/architecture.h"
#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Like deduce_architecture, for an encoder with two convolutions before its layers (Whisper).
[[nodiscard]] Architecture deduce_sound_model(const DeductionInput& input);

}  // namespace attnscope
