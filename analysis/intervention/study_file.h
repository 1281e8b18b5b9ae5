// Reading and writing of studies as HDF5 files, finished or not.
#pragma once

#include <filesystem>

#include "analysis/intervention/study.h"

namespace attnscope {

/// Writes a temporary file and renames it. Equal results give equal bytes. Throws Error(io).
void write_study(const std::filesystem::path& file, const StudyResult& result);

/// Reads a study. Throws Error(io, not_this_format); Error(damaged) for inconsistent shapes.
[[nodiscard]] StudyResult read_study(const std::filesystem::path& file);

}  // namespace attnscope
