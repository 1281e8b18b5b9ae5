// What a view shows: a model × a mechanism × an input, and the trace of that run.
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
  std::shared_ptr<const Trace> trace;  ///< null until the run has ended
  /// Learnt apart from the model and laid over it, as TraceRequest::parameters; null for none.
  std::shared_ptr<const std::vector<NamedTensors>> parameters = nullptr;
  std::string own_input = {};  ///< locator of the input it alone runs on; empty: as all others
};

/// Of its model, or as the trace without one recorded it.
[[nodiscard]] ModelStatus status_of(const Subject& subject);

}  // namespace attnscope
