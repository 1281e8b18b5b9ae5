// The trace of a message "show".
#pragma once

#include "core/trace/trace.h"
#include "core/wire/frame.h"

namespace attnscope {

/// The arrays of a frame read like those of a trace file (core/trace/trace_file.h), with the
/// members of header["attributes"] as its attributes: texts as they are, other values as JSON.
/// Throws the errors of read_trace.
[[nodiscard]] Trace shown_trace(const Frame& frame);

}  // namespace attnscope
