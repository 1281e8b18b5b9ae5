// A loaded model: a ModelSpec with its weights, ready to run under any mechanism.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

class Checkpoint;

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
  /// True if a text may have a picture (Text::picture).
  [[nodiscard]] virtual bool reads_pictures() const { return false; }
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

/// Like load_model, but takes a checkpoint that is open or exists only in memory, and does not
/// compare the model with a reference. `file` becomes the file of the model.
[[nodiscard]] std::shared_ptr<const Model> read_model(const Checkpoint& checkpoint,
                                                      const std::filesystem::path& file,
                                                      const ModelOptions& options = {},
                                                      const Progress& progress = {});

/// A function that processes `layers`, whose records are complete in `trace`; other layers may be
/// empty.
using TakeLayers = std::function<void(const Trace& trace, const std::vector<std::int64_t>& layers,
                                      const Progress& progress)>;

/// Runs the model without keeping all maps in memory, which take tens of gigabytes for long texts:
/// passes its recorded layers to `take`, each once and in order, in batches of about `batch_bytes`
/// of maps. They are then released: the returned trace has neither maps nor factors. Throws the
/// errors of Model::run, also if the maps of a single layer are too large.
Trace run_by_layers(const Model& model, const Input& input, const MechanismChoice& mechanism,
                    TraceRequest request, std::int64_t batch_bytes, const TakeLayers& take,
                    const Progress& progress = {});

}  // namespace attnscope
