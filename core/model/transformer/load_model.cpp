#include <utility>

#include "core/architecture/architecture.h"
#include "core/architecture/model_file.h"
#include "core/error.h"
#include "core/file/folder_name.h"
#include "core/model/model.h"
#include "core/model/read_model.h"
#include "core/model/transformer/transformer.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// What the file calls itself, else its own name; of a folder the folder's.
std::string own_name(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  for (const char* const key : {"name", "general.name"}) {
    const auto name = checkpoint.metadata().find(key);
    const bool named = name != checkpoint.metadata().end() && !name->second.empty();
    if (named) return shown_text(name->second);
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) return shown_text(file.stem().string());
  return shown_text(name_of_folder(file));
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  progress.step(0, "opening " + file.filename().string());
  return read_model(open_model_file(file, options), file, options, progress);
}

std::shared_ptr<const Model> read_model(const Checkpoint& checkpoint,
                                        const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  const std::filesystem::path folder = checkpoint.path().parent_path();
  Architecture architecture = recognise_architecture(checkpoint, options);
  return with_file(file, [&] {
    (void)make_mechanism(architecture.spec.mechanism);
    TransformerWeights weights = read_transformer_weights(checkpoint, architecture, progress);
    std::shared_ptr<const Vocabulary> vocabulary;
    if (architecture.spec.reads_texts()) {
      vocabulary = make_vocabulary(architecture.spec, folder, checkpoint.key_values());
    }
    return std::make_shared<const Transformer>(file, own_name(checkpoint, file),
                                               std::move(architecture), std::move(weights),
                                               std::move(vocabulary));
  });
}

}  // namespace attnscope
