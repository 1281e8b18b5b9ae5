// Main loop of a sweep, independent of who computes the inputs: resumes, adds up, saves, writes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/sweep/input_block.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Computes any number of inputs after SweepResult::done. Throws Cancelled.
using NextInputs = std::function<InputBlock(const SweepResult& so_far)>;

/// Like run_sweep, with inputs computed by `next`.
[[nodiscard]] SweepResult run_sweep_by(const SweepRequest& request, const NextInputs& next,
                                       const Progress& progress, const SweepAdvanced& advanced);

/// Indices after SweepRequest::first, in the order in which they are swept.
[[nodiscard]] std::vector<std::int64_t> swept_items(const SweepRequest& request);

/// Reports that `done` of `count` inputs are done, `begun` of them by an earlier run.
void report_inputs(const Progress& progress, std::int64_t done, std::int64_t begun,
                   std::int64_t count);

}  // namespace attnscope
