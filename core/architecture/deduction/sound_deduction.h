// What the tensors of a model of sounds say of it.
#pragma once

#include "core/architecture/architecture.h"
#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// As deduce_architecture, of an encoder with two convolutions before its layers (Whisper).
[[nodiscard]] Architecture deduce_sound_model(const DeductionInput& input);

}  // namespace attnscope
