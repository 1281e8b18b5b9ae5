#include <utility>

#include "core/architecture/architecture.h"
#include "core/architecture/model_file.h"
#include "core/error.h"
#include "core/model/causal_lm.h"
#include "core/model/model.h"
#include "core/model/pyramid_vit.h"
#include "core/model/text_classifier.h"
#include "core/model/vit.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// What the file calls itself, else its own name; of a folder the folder's.
std::string own_name(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  const auto name = checkpoint.metadata().find("name");
  const bool named = name != checkpoint.metadata().end() && !name->second.empty();
  if (named) return shown_text(name->second);
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) return shown_text(file.stem().string());
  const std::filesystem::path folder = file.has_filename() ? file : file.parent_path();
  return shown_text(folder.filename().string());
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  progress.step(0, "opening " + file.filename().string());
  const Checkpoint checkpoint = open_model_file(file, options);
  const std::filesystem::path folder = checkpoint.path().parent_path();
  Architecture architecture = recognise_architecture(checkpoint, options);
  try {
    (void)make_mechanism(architecture.spec.mechanism);
    if (architecture.spec.is_language_model()) {
      CausalLmWeights weights = read_causal_lm_weights(checkpoint, architecture, progress);
      auto vocabulary = make_vocabulary(architecture.spec, folder);
      return std::make_shared<const CausalLm>(file, own_name(checkpoint, file),
                                              std::move(architecture), std::move(weights),
                                              std::move(vocabulary));
    }
    if (architecture.spec.reads_texts()) {
      TextClassifierWeights weights =
          read_text_classifier_weights(checkpoint, architecture, progress);
      auto vocabulary = make_vocabulary(architecture.spec, folder);
      return std::make_shared<const TextClassifier>(file, own_name(checkpoint, file),
                                                    std::move(architecture), std::move(weights),
                                                    std::move(vocabulary));
    }
    if (architecture.spec.is_pyramid()) {
      PyramidWeights weights = read_pyramid_weights(checkpoint, architecture, progress);
      return std::make_shared<const PyramidVit>(file, own_name(checkpoint, file),
                                                std::move(architecture), std::move(weights));
    }
    VitWeights weights = read_vit_weights(checkpoint, architecture, progress);
    return std::make_shared<const Vit>(file, own_name(checkpoint, file), std::move(architecture),
                                       std::move(weights));
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
