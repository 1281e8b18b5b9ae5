// Deduces the spec of a model of texts from its tensors and lists what remains to be assumed.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Like deduce_architecture, for models of texts.
[[nodiscard]] Architecture deduce_text_model(const DeductionInput& input);

}  // namespace attnscope
