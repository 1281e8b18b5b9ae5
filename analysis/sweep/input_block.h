// Consecutive inputs of a sweep: the unit that is computed at once and sent between processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/sweep/input_record.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

struct InputBlock {
  std::vector<std::string> labels;   ///< labels of the inputs
  std::vector<InputRecord> records;  ///< contribution of each input
};

/// Runs the request's subjects on `items` (indices after SweepRequest::first), on all cores.
/// `begin_input` is called when an input begins, from any thread, with the number of inputs done so
/// far. If it throws Cancelled, no further input begins, and the block ends before the first
/// missing one.
[[nodiscard]] InputBlock run_inputs(const SweepRequest& request,
                                    std::span<const std::int64_t> items,
                                    const std::function<void(std::int64_t done)>& begin_input);

/// Adds the inputs in their order, so that sums have the same bits whichever process computed them.
void add_inputs(SweepResult& result, const InputBlock& block);

// Main loop of a sweep, independent of who computes the inputs: resumes, adds up, saves, writes.

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
