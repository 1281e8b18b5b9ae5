// Determines the options of a model that no tensor reveals: it tries values until maps, tokens and
// logits agree with a reference computed by the model's own code.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/progress.h"

namespace attnscope {

/// One option that was determined, and the evidence for it.
struct FittedChoice {
  std::string option;  ///< name of the option, such as "layer.attention.head_split"
  std::string value;
  std::string other = {};  ///< the second-best value; empty if no other was tried
  double difference = 0;   ///< greatest relative difference of any part with `other` instead
  bool determined = true;  ///< true if the reference rules out all other values tried
};

/// Agreement of one part of the model, such as "layer 1, attention maps": the greatest |ours −
/// reference| divided by the greatest |reference|.
struct FittedPart {
  std::string name;
  double difference = 0;
};

struct Fit {
  std::filesystem::path reference;
  std::map<std::string, std::string> options;  ///< all determined options, usable as overrides
  std::vector<FittedChoice> choices;
  std::vector<FittedPart> parts;  ///< parts in the order of the computation

  /// The first part that differs by more than self_test_tolerance; null if all agree.
  [[nodiscard]] const FittedPart* first_difference() const;
};

/// Searches the options of `file` that `said` leaves open, in three steps: those that affect the
/// maps of layer 0, those that affect its output, and those of the read-out. Returns the best
/// combination even if none agrees. Throws Error(usage) if the reference has no maps, and the
/// errors of recognise_architecture and self_test.
[[nodiscard]] Fit fit_model(const std::filesystem::path& file,
                            const std::filesystem::path& reference, const ModelOptions& said,
                            const Progress& progress = {});

/// Lines of Python that write a reference for the model of `file`, with inputs of its kind and the
/// names of its modules.
[[nodiscard]] std::string lines_for_reference(const std::filesystem::path& file,
                                              const ModelOptions& said);

/// A JSON description of the model (docs/architecture-descriptions.md) that opens `file` like
/// `options` do. Throws the errors of recognise_architecture.
[[nodiscard]] std::string fitted_description(const std::filesystem::path& file,
                                             const ModelOptions& options);

}  // namespace attnscope
