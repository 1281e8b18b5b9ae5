// Tensors without a role that take part in the computation, as far as their names tell: a model
// that ran without them would be another.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/description/architecture_match.h"

namespace attnscope {

/// Inverse frequencies of rotary positions: in a model of texts that has these no leftover, since θ
/// is read from them.
inline constexpr std::string_view kStoredFrequencies = "*inv_freq";

/// Throws Error(unsupported) naming the first tensor of a block, or of the embedding, that has no
/// role, is not harmless in the family, is not `unused` by what the configuration says (patterns of
/// names without the prefix), and is not ignored by the user's word; Error(usage) for a pattern of
/// the user's that matches nothing. Gives what was ignored, one assumption a pattern.
[[nodiscard]] std::vector<Assumption> check_leftover_tensors(const ArchitectureMatch& match,
                                                             const Checkpoint& checkpoint,
                                                             const ModelOptions& options,
                                                             std::span<const std::string> unused);

}  // namespace attnscope
