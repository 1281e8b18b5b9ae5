// Files with a mechanism's learned tensors that are separate from a model, such as hash codes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

struct LearnedTensors {
  MechanismChoice mechanism;  ///< the mechanism they belong to, with matching parameters
  /// Tensors per layer, as in TraceRequest::parameters.
  std::shared_ptr<const std::vector<NamedTensors>> layers;
  std::map<std::string, std::string> provenance;  ///< model, inputs, options, program version
};

/// Writes to a temporary file first, then renames it. HDF5: root attributes `format` =
/// "attnscope-tensors", `format_version` = 1, `mechanism`, `layers`, and `mechanism_parameters` and
/// `provenance` as JSON text; a group `layer_NN` per layer with a float32 data set for each tensor,
/// "ksh.A". Throws Error(io).
void write_learned_tensors(const std::filesystem::path& file, const LearnedTensors& tensors);

/// Throws Error(not_this_format, damaged, io).
[[nodiscard]] LearnedTensors read_learned_tensors(const std::filesystem::path& file);
/// Reads hash codes for the mechanism `name`, given by `argument`; empty: any. Throws Error(usage)
/// if they were learned for another one.
[[nodiscard]] LearnedTensors read_learned_codes(const std::filesystem::path& file,
                                                const std::string& name,
                                                const std::string& argument);

}  // namespace attnscope
