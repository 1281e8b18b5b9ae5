// Models and traces in Python. A trace is a run with its model and its mechanism, or only maps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "python/arrays.h"

namespace attnscope::python {

/// Models are immutable and shared with the traces of their runs.
struct PythonModel {
  std::shared_ptr<const Model> model;
};

/// A subject with a trace: from a file or an array it has no model.
using PythonTrace = Subject;

/// "adder (identity=true), 08_bag.png": the mechanism and the input of a trace.
[[nodiscard]] std::string run_in_words(const Trace& trace);

}  // namespace attnscope::python
