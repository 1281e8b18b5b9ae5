// A description of a model that no family names, made of the words in its tensors' names: course
// projects, tutorials, models from scratch. What names and shapes do not tell is asked for, never
// guessed.
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

/// What must be said of the model before it can run.
struct UnsaidMember {
  std::string member;  ///< "norm_position"
  std::string values;  ///< "pre or post"
};

struct NamedModel {
  /// JSON, as a user would have written it; empty where the names do not tell.
  std::string description;
  /// What no option says and only the code tells; with it empty a description can be run.
  std::vector<UnsaidMember> unsaid;
  std::string inputs;                   ///< Python that makes inputs of its kind
  bool logits = false;                  ///< its code gives them beside the maps
  std::vector<Assumption> assumptions;  ///< beside those of the deduction
  /// The tensor, or the block, whose names do not say what it is; empty where there are no blocks.
  std::string unexplained;
  std::string why = "its name does not say what it is";
  /// D, where the blocks can be read without what is unexplained, of given tokens [N, D], once
  /// `unsaid` is said; else 0.
  std::int64_t alone_width = 0;
};

/// Tensors that the user's word leaves out take no part, nor do those of an optimiser. `stated`:
/// members that the file says itself.
[[nodiscard]] NamedModel read_named_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                          const std::map<std::string, std::string>& stated);

/// Error(unsupported) about `model.unexplained`, with the options that read the blocks alone where
/// that can be.
[[noreturn]] void throw_unexplained(const NamedModel& model, const Checkpoint& checkpoint);

/// Throws Error(unsupported) if there is anything unsaid, with the options that say it.
void check_said(const NamedModel& model, const Checkpoint& checkpoint);

}  // namespace attnscope
