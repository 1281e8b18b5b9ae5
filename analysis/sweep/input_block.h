// Consecutive inputs of a sweep: what is computed at once, and what processes send each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/sweep/input_record.h"

namespace attnscope {

struct InputBlock {
  std::vector<std::string> labels;   ///< of the inputs
  std::vector<InputRecord> records;  ///< what each contributes
};

/// Runs the request's subjects on `items` (indices after SweepRequest::first), on all cores.
/// `begin_input` is called as each begins, from any thread, with how many were done by then; where
/// it throws Cancelled nothing more is begun, and the block ends before the first that is missing.
[[nodiscard]] InputBlock run_inputs(const SweepRequest& request,
                                    std::span<const std::int64_t> items,
                                    const std::function<void(std::int64_t done)>& begin_input);

/// Adds them in their order, so that sums have the same bits whoever computed them.
void add_inputs(SweepResult& result, const InputBlock& block);

}  // namespace attnscope
