#include <utility>

#include "core/checkpoint/architecture.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/model/vit.h"

namespace attnscope {

std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  progress.step(0, "opening " + file.filename().string());
  const Checkpoint checkpoint = open_checkpoint(file);
  Architecture architecture = recognise_architecture(checkpoint, options);
  try {
    (void)make_mechanism(architecture.spec.mechanism);
    VitWeights weights = read_vit_weights(checkpoint, architecture, progress);
    const auto own_name = checkpoint.metadata().find("name");
    std::string name = own_name == checkpoint.metadata().end() || own_name->second.empty()
                           ? file.stem().string()
                           : own_name->second;
    return std::make_shared<const Vit>(file, std::move(name), std::move(architecture),
                                       std::move(weights));
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
