// One run of a model: as it is, then with changed maps if changes are requested.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/what_if.h"
#include "core/model/subject.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Everything that a run reads, so that it is independent of the session while it is in progress.
struct SubjectRun {
  Subject subject;                      ///< its model is not null
  std::shared_ptr<const Input> input;   ///< null: subject.own_input is opened first
  std::optional<std::int64_t> channel;  ///< the channel of TraceRequest
  WhatIf what_if;
  /// The trace without changes from an earlier run; null: the model runs without changes first.
  std::shared_ptr<const Trace> unchanged;
  std::shared_ptr<const Trace> toward;  ///< trace of what_if.toward; null without interpolation
  bool by_layers = false;               ///< LayersRecorded is called during the run
};

/// The end of a run that did not fail.
struct RunEnd {
  enum class State {
    as_is,    ///< no changes were requested
    changed,  ///< `trace` has the changed maps
    refused   ///< the changes are impossible; `trace` is the one without changes
  };
  State state = State::as_is;
  std::shared_ptr<const Input> input;
  std::shared_ptr<const Trace> trace;
  WhatIf ran_with;                         ///< the changes in `trace`; none unless `changed`
  std::shared_ptr<const Trace> unchanged;  ///< the trace without changes if `changed`, else null
  std::string error;                       ///< the reason if `refused`
};

/// Called on the run's thread with a trace that holds the first `layers` layers.
using LayersRecorded = std::function<void(const std::shared_ptr<const Input>& input,
                                          std::shared_ptr<const Trace> trace, std::int64_t layers)>;

/// Runs the model on the calling thread. Throws Error for an input that cannot be opened and for a
/// model that cannot run on it; Cancelled.
[[nodiscard]] RunEnd carry_out(const SubjectRun& run, const LayersRecorded& layers_recorded,
                               const Progress& progress);

/// Copies of an incomplete trace, delivered during the run. Used as TraceRequest::layer_recorded.
/// Copies take at most a tenth of the run's time; there are none for short runs, and none once the
/// maps are large.
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
