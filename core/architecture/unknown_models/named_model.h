// Builds a description of a model that matches no family from the words in its tensors' names:
// course projects, tutorials, models from scratch. Settings that names and shapes do not show are
// requested, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/model_status.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Setting that must be specified before the model can run.
struct UnspecifiedMember {
  std::string member;  ///< setting: "norm_position"
  std::string values;  ///< valid values: "pre or post"
};

struct NamedModel {
  /// JSON in the format of users' descriptions; empty if the names are not sufficient.
  std::string description;
  /// Settings that only the code shows and no option gives; if empty, a description can be run.
  std::vector<UnspecifiedMember> unspecified;
  std::string inputs;                   ///< Python code that makes inputs of its kind
  bool logits = false;                  ///< true if its code returns logits in addition to the maps
  std::vector<Assumption> assumptions;  ///< assumptions in addition to those of the deduction
  /// Tensor or block whose names have no known meaning; empty if there are no blocks.
  std::string unexplained;
  std::string why = "its name does not say what it is";
  /// D if the blocks can be read on their own, from given tokens [N, D], once `unspecified` is
  /// specified; otherwise 0.
  std::int64_t alone_width = 0;
};

/// Reads a model by its names. Tensors that the user ignores and those of an optimiser are left
/// out. `stated`: members that the file gives itself.
[[nodiscard]] NamedModel read_named_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                          const std::map<std::string, std::string>& stated);

/// Throws Error(unsupported) about `model.unexplained`. If possible, the remedy gives the options
/// that read only the blocks.
[[noreturn]] void throw_unexplained(const NamedModel& model, const Checkpoint& checkpoint);

/// Throws Error(unsupported) with the options to specify if `model.unspecified` is not empty.
void check_said(const NamedModel& model, const Checkpoint& checkpoint);

}  // namespace attnscope
