// Architectures of timm: which families they may be of, and what their names say of a model that
// its tensors do not.
#pragma once

#include <string>
#include <string_view>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

inline constexpr std::string_view kRotaryVit = "timm ViT with rotary positions";

/// Into `config`: kind, families, and heads, epsilons and activations that go with the name. Throws
/// Error(unsupported) for an architecture that is not run.
void read_timm_architecture(const std::string& architecture, NeighbourConfig& config);

}  // namespace attnscope
