// A model with a mechanism and an input, and the trace of that run: the content of a view.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/trace/trace.h"

namespace attnscope {

struct Subject {
  std::string label;                   ///< "fashion-adder", "fashion-softmax as adder", …
  std::shared_ptr<const Model> model;  ///< null for a trace opened from a file
  MechanismChoice mechanism;
  std::shared_ptr<const Input> input;  ///< null for a trace opened from a file
  std::shared_ptr<const Trace> trace;  ///< null until the run has finished
  /// Parameters that were learned separately, as in TraceRequest::parameters; null for none.
  std::shared_ptr<const std::vector<NamedTensors>> parameters = nullptr;
  std::string own_input = {};  ///< locator of an input used only here; empty for the shared one
};

/// The status of its model; without a model, the status recorded in the trace.
[[nodiscard]] inline ModelStatus status_of(const Subject& subject) {
  if (subject.model) return subject.model->status();
  return subject.trace ? recorded_status(subject.trace->provenance) : ModelStatus{};
}

}  // namespace attnscope
