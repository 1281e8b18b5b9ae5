// What a run has recorded so far, handed over while the rest runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/trace/trace.h"

namespace attnscope {

/// For TraceRequest::layer_recorded. Copies are made so seldom that they take no tenth of the run's
/// time, none of a run that is done at once, and none once they are large.
class TraceSoFar {
 public:
  /// Called on the run's thread with a copy that holds the first `layers` layers.
  using Deliver = std::function<void(std::shared_ptr<const Trace>, std::int64_t layers)>;

  /// `most_map_bytes`: of the maps of all layers together, see TraceRequest, whose own is for one
  /// layer where each is handed over.
  TraceSoFar(std::int64_t most_map_bytes, Deliver deliver);

  /// Throws Error(usage) where the maps are too large to keep.
  void take(const Trace& trace, std::int64_t layer);

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t most_map_bytes_, bytes_ = 0;
  Deliver deliver_;
  Clock::time_point next_;  ///< no copy before
};

}  // namespace attnscope
