// Traces on disk: HDF5, `/layer_00/implied_map` float32 [H,N,N], …, `/logits`, and attributes that
// say how it was made. Anyone may write this layout: maps alone are enough.
#pragma once

#include <filesystem>

#include "core/model/trace.h"

namespace attnscope {

/// Written beside, then renamed. Throws Error(io).
void write_trace(const std::filesystem::path& file, const Trace& trace);

/// Throws Error(not_this_format) if there is no /layer_00/implied_map, Error(damaged) naming the
/// data set whose shape does not fit.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file);

/// True if the file is HDF5 and holds /layer_00/implied_map.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& file);

}  // namespace attnscope
