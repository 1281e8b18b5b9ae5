// The table of a model's heads, as the command line prints it and Python returns it.
#pragma once

#include <optional>
#include <vector>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/heads/head_table.h"
#include "analysis/report/report.h"
#include "core/trace/trace.h"

namespace attnscope {

/// One row per head: layer, head, state, sinks, every measure of head_measures, and, if
/// `at_entropy` is given, the rank at that entropy (a share of ln n, above 0, below 1) from
/// `entropy_ranks`, which are as many as the rows. Text leaves out the measures that no head has.
/// `table` and `entropy_ranks` must outlive the report.
[[nodiscard]] Report head_report(const Trace& trace, const HeadTable& table,
                                 std::optional<double> at_entropy = {},
                                 const std::vector<EntropyRank>* entropy_ranks = nullptr);

}  // namespace attnscope
