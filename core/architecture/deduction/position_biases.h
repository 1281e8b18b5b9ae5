// DAFT's position biases with a number for every pair of tokens: they tell how many tokens there
// are.
#pragma once

#include "core/architecture/architecture.h"

namespace attnscope {

/// The role of the first layer's (DAFT, Eq. 5: w).
inline constexpr const char* kPositionBiases = "layer.0.mechanism.w";

/// Throws Error(damaged), naming the tensor, unless w of each of `layers` layers and its mask are
/// [tokens, tokens], where the file has them. `remedy`: what to do about it.
void check_position_biases(const Architecture& architecture, const Checkpoint& checkpoint,
                           std::int64_t layers, std::int64_t tokens, const std::string& remedy);

}  // namespace attnscope
