// A mechanism's own tensors, learnt apart from a model to be laid over it: hash codes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

struct LearnedTensors {
  MechanismChoice mechanism;  ///< what they are for, with the parameters they fit
  /// By layer, for TraceRequest::parameters.
  std::shared_ptr<const std::vector<NamedTensors>> layers;
  std::map<std::string, std::string> provenance;  ///< model, inputs, options, program version
};

/// Written beside, then renamed. HDF5: root attributes `format` = "attnscope-tensors",
/// `format_version` = 1, `mechanism`, `layers`; `mechanism_parameters` and `provenance` as JSON
/// text; group `layer_NN` with a float32 data set for each tensor, "ksh.A". Throws Error(io).
void write_learned_tensors(const std::filesystem::path& file, const LearnedTensors& tensors);

/// Throws Error(not_this_format, damaged, io).
[[nodiscard]] LearnedTensors read_learned_tensors(const std::filesystem::path& file);

}  // namespace attnscope
