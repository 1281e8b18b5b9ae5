// A sweep by several processes: each has its share of the inputs, the first adds up and writes.
#pragma once

#include "analysis/sweep/process_team.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Which of `size` processes computes the inputs of a block: blocks are dealt out in turn.
[[nodiscard]] constexpr int owner_of_block(std::int64_t block, int size) {
  return static_cast<int>(block % size);
}

/// Inputs in a block for `size` processes that share `count` inputs: so few that each has several.
[[nodiscard]] std::int64_t team_block_size(std::int64_t count, int size);

/// How many messages of a process may be under way before it waits: it may be that far ahead.
inline constexpr std::size_t kBlocksAhead = 2;

/// The first process's part: as run_sweep in every other respect, the result's bits too. What goes
/// wrong in another process is thrown here, and ends the others.
[[nodiscard]] SweepResult lead_sweep(ProcessTeam& team, const SweepRequest& request,
                                     const Progress& progress = {},
                                     const SweepAdvanced& advanced = {});

/// Another process's part; the request is the first one's (SweepRequest::out does not count).
/// Returns when all its inputs are done, or none is wanted any more. Where `progress` is cancelled,
/// the first process is told, and ends the sweep as if it had been cancelled there.
void assist_sweep(ProcessTeam& team, const SweepRequest& request, const Progress& progress = {});

/// For a process that fails before it can take part: the first one throws this error in its place.
void refuse_to_assist(ProcessTeam& team, const std::exception& why);
/// For a first process that fails before it can lead: the others end.
void dismiss_team(ProcessTeam& team);

}  // namespace attnscope
