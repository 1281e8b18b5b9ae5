// Sweep by several processes: each computes a share of the inputs, the first one adds and writes.
#pragma once

#include "analysis/sweep/process_team.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Rank of the process that computes the inputs of a block: blocks are dealt in turn.
[[nodiscard]] constexpr int owner_of_block(std::int64_t block, int size) {
  return static_cast<int>(block % size);
}

/// Number of inputs in a block if `size` processes share `count` inputs: several blocks per
/// process.
[[nodiscard]] std::int64_t team_block_size(std::int64_t count, int size);

/// Number of undelivered messages at which a process waits: how far it may be ahead.
inline constexpr std::size_t kBlocksAhead = 2;

/// The first process's part; otherwise like run_sweep, with the same bits. An error of another
/// process is thrown here and ends the other processes.
[[nodiscard]] SweepResult lead_sweep(ProcessTeam& team, const SweepRequest& request,
                                     const Progress& progress = {},
                                     const SweepAdvanced& advanced = {});

/// Another process's part; the request is the first one's, except SweepRequest::out. Returns when
/// all its inputs are done or no more are required. If `progress` is cancelled, the first process
/// is notified and ends the sweep as if it had been cancelled there.
void assist_sweep(ProcessTeam& team, const SweepRequest& request, const Progress& progress = {});

/// Reports that this process failed before it took part: the first process throws this error.
void refuse_to_assist(ProcessTeam& team, const std::exception& why);
/// Ends the other processes if the first process failed before it could lead.
void dismiss_team(ProcessTeam& team);

}  // namespace attnscope
