// Tables of the attention between groups of tokens. The maps must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/groups/grouped_maps.h"
#include "analysis/report/report.h"

namespace attnscope {

/// One row per group: its tokens, its share of the attention of group `from` or of all queries,
/// mean over the heads, and its receiver score.
[[nodiscard]] Report groups_report(const GroupedMaps& maps, std::optional<std::size_t> from = {});
/// One row per head of `heads` (all if empty), and per layer the mean of its heads: kurtosis,
/// shares, receiver scores, and the maps by groups (in CSV a line for each pair of groups).
[[nodiscard]] Report grouped_heads_report(const Trace& trace, const GroupedMaps& maps,
                                          std::optional<std::size_t> from = {},
                                          const std::vector<std::int64_t>& heads = {});
/// A line above groups_report: numbers of groups and tokens, and what the shares are of.
[[nodiscard]] std::string groups_in_words(const GroupedMaps& maps, const GroupOptions& options,
                                          std::optional<std::size_t> from = {});

}  // namespace attnscope
