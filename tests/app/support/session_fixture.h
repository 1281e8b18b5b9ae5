// What tests of a session are made on, and how they wait for its jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "app/session/session.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Row-stochastic maps of `tokens` = 1 + side² tokens on a grid, peaked by `sharpness`: the larger,
/// the higher the rank.
[[nodiscard]] Trace sample_trace(std::int64_t layers, std::int64_t heads, std::int64_t side,
                                 double sharpness, unsigned seed = 1);

/// The open subject at that place, from 0; none if there are not so many.
[[nodiscard]] SubjectId subject_at(const Session& session, std::size_t place);

/// Runs the event loop until `condition` holds; false after `seconds`.
[[nodiscard]] bool wait_until(const std::function<bool()>& condition, double seconds = 60);

}  // namespace attnscope
