// The processes that were started together with this one, by mpirun or srun.
#pragma once

#include <memory>

#include "analysis/sweep/process_team.h"

namespace attnscope {

/// Null where this process was started alone. Throws Error(unsupported) where it was not, and the
/// plug-in that knows MPI (libattnscope-mpi.so) is not beside the program: each would do it all,
/// and write the same file.
[[nodiscard]] std::unique_ptr<ProcessTeam> process_team_here();

}  // namespace attnscope
