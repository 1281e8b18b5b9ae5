// Copies of an incomplete trace, delivered during the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/trace/trace.h"

namespace attnscope {

/// Used as TraceRequest::layer_recorded. Copies take at most a tenth of the run's time; there are
/// none for short runs, and none once the maps are large.
class TraceSoFar {
 public:
  /// Called on the run's thread with a copy that holds the first `layers` layers.
  using Deliver = std::function<void(std::shared_ptr<const Trace>, std::int64_t layers)>;

  /// `most_map_bytes`: limit for the maps of all layers together. The limit in TraceRequest applies
  /// to single layers if each layer is delivered.
  TraceSoFar(std::int64_t most_map_bytes, Deliver deliver);

  /// Throws Error(usage) if the maps are too large to keep.
  void take(const Trace& trace, std::int64_t layer);

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t most_map_bytes_, bytes_ = 0;
  Deliver deliver_;
  Clock::time_point next_;  ///< earliest time of the next copy
};

}  // namespace attnscope
