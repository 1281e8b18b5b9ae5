// Test data for sessions, and functions that wait for their jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "app/session/session.h"
#include "core/trace/trace.h"

namespace attnscope {

/// A trace with row-stochastic maps of 1 + side² tokens on a grid. A larger `sharpness` gives
/// sharper peaks and a higher rank.
[[nodiscard]] Trace sample_trace(std::int64_t layers, std::int64_t heads, std::int64_t side,
                                 double sharpness, unsigned seed = 1);

/// The open model at that index, from 0; SubjectId::none if it does not exist.
[[nodiscard]] SubjectId subject_at(const Session& session, std::size_t place);

/// Runs the event loop until `condition` holds; false if it does not within `seconds`.
[[nodiscard]] bool wait_until(const std::function<bool()>& condition, double seconds = 60);

}  // namespace attnscope
