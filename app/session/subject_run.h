// One run of a model: as it is, then with changed maps if changes are requested.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/what_if.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Everything that a run reads, so that it is independent of the session while it is in progress.
struct SubjectRun {
  Subject subject;                      ///< its model is not null
  std::shared_ptr<const Input> input;   ///< null: subject.own_input is opened first
  std::optional<std::int64_t> channel;  ///< as in TraceRequest
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

}  // namespace attnscope
