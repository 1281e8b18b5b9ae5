// Shape of DAFT's position biases, which hold one value per pair of tokens and so give the number
// of tokens.
#pragma once

#include "core/architecture/architecture.h"

namespace attnscope {

/// Role of the position biases of the first layer (DAFT, Eq. 5: w).
inline constexpr const char* kPositionBiases = "layer.0.mechanism.w";

/// Throws Error(damaged) naming the tensor unless w of each of `layers` layers and its mask, if
/// present, are [tokens, tokens]. `remedy` is the error's remedy.
void check_position_biases(const Architecture& architecture, const Checkpoint& checkpoint,
                           std::int64_t layers, std::int64_t tokens, const std::string& remedy);

}  // namespace attnscope
