// Models and traces in Python. A trace is a run with its model and its mechanism, or only maps.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/rank.h"
#include "core/model/subject.h"
#include "python/arrays.h"

namespace attnscope::python {

/// Models are immutable and shared with the traces of their runs.
struct PythonModel {
  std::shared_ptr<const Model> model;
};

/// A subject with a trace: from a file or an array it has no model.
using PythonTrace = Subject;

using SharedSubject = std::shared_ptr<PythonTrace>;

/// Results with the subjects that they refer to, as the owner of a report.
template <class Results>
struct Kept {
  std::vector<SharedSubject> subjects;
  Results results;
};

/// Settings of a mechanism as text, by their names.
using Settings = std::map<std::string, std::string>;

/// "adder (identity=true), 08_bag.png": the mechanism and the input of a trace.
[[nodiscard]] std::string run_in_words(const Trace& trace);
/// A line with the label of a trace, its run, and whether its mechanism was trained.
[[nodiscard]] std::string heading_of(const PythonTrace& of);

/// The views of a name: one of identity_view_names, or "both" for without and with.
[[nodiscard]] std::vector<IdentityView> views_named(const std::string& name);
/// τ and the name of its share, as Python passes them.
using NamedThreshold = std::pair<double, std::string>;
/// Throws Error(usage) for an unknown name of a share.
[[nodiscard]] RankThreshold threshold_named(const NamedThreshold& named);
/// The analysed matrix by the names of its kind and of what is added.
[[nodiscard]] MatrixChoice matrix_named(const std::string& of, const std::string& added,
                                        bool centred);

}  // namespace attnscope::python
