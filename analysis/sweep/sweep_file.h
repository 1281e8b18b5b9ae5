// Stores sweep results, finished or not, as HDF5 files.
#pragma once

#include <filesystem>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Writes a temporary file, then renames it. Equal results give equal bytes. Throws Error(io).
void write_sweep(const std::filesystem::path& file, const SweepResult& result);

/// Reads a sweep. Throws Error(io, not_this_format), Error(damaged) for shapes that contradict each
/// other.
[[nodiscard]] SweepResult read_sweep(const std::filesystem::path& file);

}  // namespace attnscope
