// Tables of the experts of a mixture. The trace and the layers must outlive them.
#pragma once

#include <string>
#include <vector>

#include "analysis/experts/token_experts.h"
#include "analysis/report/report.h"

namespace attnscope {

/// One row per layer: its experts, those that are used, the one of the most tokens, and their
/// balance; in JSON the number of tokens of each expert.
[[nodiscard]] Report expert_layers_report(const Trace& trace,
                                          const std::vector<LayerExperts>& layers);
/// One row per layer and token: the token's experts with their weights (in CSV a line for each).
[[nodiscard]] Report token_experts_report(const Trace& trace,
                                          const std::vector<LayerExperts>& layers);
/// A line above these: the number of tokens, and of experts of each.
[[nodiscard]] std::string experts_in_words(const std::vector<LayerExperts>& layers);

}  // namespace attnscope
