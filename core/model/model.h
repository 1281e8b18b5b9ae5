// A loaded model: a ModelSpec with its weights, ready to run under any mechanism.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/model_status.h"
#include "core/input/input.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Immutable once loaded; `run` may be called from several threads at once.
class Model {
 public:
  virtual ~Model() = default;

  [[nodiscard]] virtual const ModelSpec& spec() const = 0;
  /// Display name: the name stored in the file, otherwise the file's name.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::filesystem::path& file() const = 0;
  /// The naming scheme that was recognised: "timm ViT", "our own", or a description's name.
  [[nodiscard]] virtual const std::string& architecture() const = 0;
  [[nodiscard]] virtual const std::vector<Assumption>& assumptions() const = 0;
  /// The evidence that the model computes the same as its own code.
  [[nodiscard]] virtual ModelStatus status() const {
    return model_status(assumptions(), architecture());
  }

  /// Runs `input` with `mechanism` (the trained one is spec().mechanism) and records the results
  /// that `request` selects. Deterministic for any number of threads. Throws Error if the input
  /// does not fit the model (channels, size), and Cancelled through `progress`.
  [[nodiscard]] virtual Trace run(const Input& input, const MechanismChoice& mechanism,
                                  const TraceRequest& request, const Progress& progress) const = 0;
};

/// Opens a weight file, recognises its architecture and loads its weights. If an option that
/// changes results had to be assumed, compares the model once with a reference next to the file and
/// stores the outcome in its status. Throws Error; for an unknown architecture it names the nearest
/// scheme and the tensors that are missing.
[[nodiscard]] std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                                      const ModelOptions& options = {},
                                                      const Progress& progress = {});

}  // namespace attnscope
