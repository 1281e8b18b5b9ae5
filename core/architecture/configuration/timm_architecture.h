// Architectures of timm: their possible families, and settings that follow from their names but not
// from their tensors.
#pragma once

#include <string>
#include <string_view>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

inline constexpr std::string_view kRotaryVit = "timm ViT with rotary positions";

/// Sets the kind, the families, and the heads, epsilons and activations that follow from the name.
/// Throws Error(unsupported) for an architecture that is not supported.
void read_timm_architecture(const std::string& architecture, NeighbourConfig& config);

}  // namespace attnscope
