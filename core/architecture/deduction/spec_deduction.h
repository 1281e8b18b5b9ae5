// Deduces a model's spec from its tensors and lists what remains to be assumed.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Fills spec, assumptions and position grid from a complete match. Throws Error if a stated or
/// overridden value contradicts the tensors' shapes.
[[nodiscard]] Architecture deduce_architecture(const DeductionInput& input);

}  // namespace attnscope
