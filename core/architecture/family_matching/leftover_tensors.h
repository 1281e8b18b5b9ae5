// Tensors without a role whose names show that they take part in the computation: a model that ran
// without them would be wrong.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/family_matching/architecture_match.h"

namespace attnscope {

/// Pattern of inverse frequencies of rotary positions. Text models with rotary positions read θ
/// from them.
inline constexpr std::string_view kStoredFrequencies = "*inv_freq";
/// Pattern of the same in Meta's checkpoints of Llama.
inline constexpr std::string_view kMetaFrequencies = "*rope.freqs";

/// The one of these two patterns that `name` matches; empty if neither.
[[nodiscard]] std::string_view frequencies_pattern(std::string_view name);

/// Throws Error(unsupported) naming the first tensor of a block, or of the embedding, that has no
/// role, is not harmless in the family, not `unused` according to the configuration (patterns of
/// names without the prefix) and not ignored by the user; Error(usage) for a user's pattern that
/// matches nothing. Returns the ignored tensors, one assumption per pattern.
[[nodiscard]] std::vector<Assumption> check_leftover_tensors(const ArchitectureMatch& match,
                                                             const Checkpoint& checkpoint,
                                                             const ModelOptions& options,
                                                             std::span<const std::string> unused);

}  // namespace attnscope
