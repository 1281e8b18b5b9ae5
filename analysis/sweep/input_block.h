// Consecutive inputs of a sweep: the unit that is computed at once and sent between processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/sweep/input_record.h"

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

}  // namespace attnscope
