// The team of processes started together with this one by mpirun or srun.
#pragma once

#include <memory>

#include "analysis/sweep/process_team.h"

namespace attnscope {

/// Null if this process was started alone. Throws Error(unsupported) if it was not and the MPI
/// plug-in (libattnscope-mpi.so) is missing, because each process would then do all the work and
/// write the same file.
[[nodiscard]] std::unique_ptr<ProcessTeam> process_team_here();

}  // namespace attnscope
