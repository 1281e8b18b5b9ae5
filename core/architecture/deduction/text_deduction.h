// What the tensors of a model of texts say of its spec, and what remains to be assumed.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// As deduce_architecture, for the families causal_lm and text_classifier.
[[nodiscard]] Architecture deduce_text_model(const DeductionInput& input);

}  // namespace attnscope
