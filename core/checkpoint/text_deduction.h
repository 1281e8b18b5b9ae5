// What a language model's tensors say of its spec, and what remains to be assumed.
#pragma once

#include "core/checkpoint/architecture_match.h"

namespace attnscope {

/// As deduce_architecture, for the family causal_lm.
[[nodiscard]] Architecture deduce_language_model(const ArchitectureMatch& match,
                                                 const Checkpoint& checkpoint,
                                                 const ModelOptions& options);

}  // namespace attnscope
