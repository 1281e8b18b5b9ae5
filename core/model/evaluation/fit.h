// Finds the choices of a model that no tensor shows: they are tried until maps, tokens and logits
// agree with a reference of what the model's own code computes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/progress.h"

namespace attnscope {

/// One choice that was found, and the evidence for it.
struct FittedChoice {
  std::string option;  ///< "layer.attention.head_split"
  std::string value;
  std::string other = {};  ///< the value that comes nearest to it; empty where none was tried
  double difference = 0;   ///< greatest relative difference of any part with `other` in its place
  bool determined = true;  ///< whether the reference tells it from every other value that was tried
};

/// How a part of the model, "layer 1, attention maps", agrees: the greatest |ours − reference| over
/// the greatest |reference|.
struct FittedPart {
  std::string name;
  double difference = 0;
};

struct Fit {
  std::filesystem::path reference;
  std::map<std::string, std::string> options;  ///< all that was found, to be given as overrides
  std::vector<FittedChoice> choices;
  std::vector<FittedPart> parts;  ///< in the order of the computation

  /// The first part that differs by more than self_test_tolerance; null where the model is found.
  [[nodiscard]] const FittedPart* first_difference() const;
};

/// Searches the choices of `file` that `said` does not make: first those that maps of layer 0 tell,
/// then those that its output tells, then those of the read-out. The best combination is given even
/// where none agrees. Throws Error(usage) where the reference has no maps, Error as
/// recognise_architecture and self_test.
[[nodiscard]] Fit fit_model(const std::filesystem::path& file,
                            const std::filesystem::path& reference, const ModelOptions& said,
                            const Progress& progress = {});

/// Lines of Python that write a reference for the model of `file`: inputs of its kind, its modules'
/// names.
[[nodiscard]] std::string lines_for_reference(const std::filesystem::path& file,
                                              const ModelOptions& said);

/// A description of the model (docs/architecture-descriptions.md), JSON that opens `file` as
/// `options` do. Throws Error as recognise_architecture.
[[nodiscard]] std::string fitted_description(const std::filesystem::path& file,
                                             const ModelOptions& options);

}  // namespace attnscope
