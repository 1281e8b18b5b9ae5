// Sweep results as HDF5 files, finished or not.
#pragma once

#include <filesystem>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Beside, then renamed. Equal results give equal bytes. Throws Error(io).
void write_sweep(const std::filesystem::path& file, const SweepResult& result);

/// Throws Error(io, not_this_format), Error(damaged) for extents that contradict each other.
[[nodiscard]] SweepResult read_sweep(const std::filesystem::path& file);

}  // namespace attnscope
