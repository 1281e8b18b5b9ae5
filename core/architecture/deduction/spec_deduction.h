// What a model's tensors say of its spec, and what remains to be assumed.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Fills spec, assumptions and position grid from a complete match. Throws Error when what is
/// stated or overridden contradicts the tensors' shapes.
[[nodiscard]] Architecture deduce_architecture(const DeductionInput& input);

}  // namespace attnscope
