// Deduces the spec of a text model from its tensors and lists what remains to be assumed.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Like deduce_architecture, for text models.
[[nodiscard]] Architecture deduce_text_model(const DeductionInput& input);

}  // namespace attnscope
