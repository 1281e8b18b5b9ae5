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
  /// Shown: the name the file gives itself, else the file's.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::filesystem::path& file() const = 0;
  /// The naming scheme that was recognised: "timm ViT", "our own", a description's name.
  [[nodiscard]] virtual const std::string& architecture() const = 0;
  [[nodiscard]] virtual const std::vector<Assumption>& assumptions() const = 0;
  /// How far it is known that its own code computes the same.
  [[nodiscard]] virtual ModelStatus status() const {
    return model_status(assumptions(), architecture());
  }

  /// Runs `input` with `mechanism` (spec().mechanism for what it was trained with) and records what
  /// `request` asks for. Deterministic whatever the thread count. Throws Error when the input does
  /// not fit the model (channels, extents), Cancelled through `progress`.
  [[nodiscard]] virtual Trace run(const Input& input, const MechanismChoice& mechanism,
                                  const TraceRequest& request, const Progress& progress) const = 0;
};

/// Opens a weight file, recognises its architecture and loads its weights. Where something that
/// changes numbers had to be assumed, a reference beside the file is compared once: the model's
/// status says what came of it. Throws Error; for an architecture nobody recognises, one that names
/// the nearest scheme and what it lacks.
[[nodiscard]] std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                                      const ModelOptions& options = {},
                                                      const Progress& progress = {});

}  // namespace attnscope
