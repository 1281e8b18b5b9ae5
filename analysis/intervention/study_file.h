// Studies as HDF5 files, finished or not.
#pragma once

#include <filesystem>

#include "analysis/intervention/study.h"

namespace attnscope {

/// Beside, then renamed. Equal results give equal bytes. Throws Error(io).
void write_study(const std::filesystem::path& file, const StudyResult& result);

/// Throws Error(io, not_this_format), Error(damaged) for extents that contradict each other.
[[nodiscard]] StudyResult read_study(const std::filesystem::path& file);

}  // namespace attnscope
