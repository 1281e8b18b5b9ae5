#include <utility>

#include "core/architecture/architecture.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hub_cache.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/model/evaluation/self_test.h"
#include "core/model/model.h"
#include "core/model/transformer/transformer.h"
#include "core/model/transformer/vision_language_model.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// The name stored in the file, otherwise the file's own name, or the folder's for a folder: in the
/// hub's cache that of the model.
std::string own_name(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  for (const char* const key : {"name", "general.name"}) {
    const auto name = checkpoint.metadata().find(key);
    const bool named = name != checkpoint.metadata().end() && !name->second.empty();
    if (named) return shown_text(name->second);
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) return shown_text(file.stem().string());
  return shown_text(hub_model_name(file).value_or(name_of_folder(file)));
}

/// `part` is added to the model's name, and `assumed` to its assumptions.
std::shared_ptr<Transformer> read_transformer(const Checkpoint& checkpoint,
                                              const std::filesystem::path& file,
                                              const ModelOptions& options, const Progress& progress,
                                              const char* part = "",
                                              const std::vector<Assumption>& assumed = {}) {
  const std::filesystem::path folder = checkpoint.path().parent_path();
  Architecture architecture = recognise_architecture(checkpoint, options);
  architecture.assumptions.insert(architecture.assumptions.end(), assumed.begin(), assumed.end());
  return with_file(file, [&] {
    (void)make_mechanism(architecture.spec.mechanism);
    TransformerWeights weights = read_transformer_weights(checkpoint, architecture, progress);
    std::shared_ptr<const Vocabulary> vocabulary;
    if (architecture.spec.reads_texts()) {
      vocabulary = make_vocabulary(architecture.spec, folder, checkpoint.key_values());
    }
    return std::make_shared<Transformer>(file, own_name(checkpoint, file) + part,
                                         std::move(architecture), std::move(weights),
                                         std::move(vocabulary));
  });
}

/// Calls `read`; its errors about a tensor of a part have the tensor's name in the file.
template <class Read>
auto with_names(const std::map<std::string, std::string>& names, const Read& read) {
  try {
    return read();
  } catch (Error& error) {
    const auto name = names.find(error.subject());
    if (name != names.end()) error.about(name->second);
    throw;
  }
}

/// A model of a picture and a text, or one of its parts if the user asks for a kind of input.
std::shared_ptr<const Model> read_parts(const VisionLanguageFile& parts,
                                        const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  if (const Checkpoint* const one = one_part(parts, options)) {
    const bool tower = one == &parts.tower;
    return with_names(tower ? parts.tower_names : parts.language_names, [&] {
      return read_transformer(*one, file, options_of_one_part(options), progress,
                              tower ? " (image tower)" : " (language model)",
                              excluded_tensors(parts));
    });
  }
  const auto tower = with_names(parts.tower_names, [&] {
    return read_transformer(parts.tower, file, options_of_tower(options), progress);
  });
  const auto language = with_names(parts.language_names, [&] {
    return read_transformer(parts.language, file, options_of_language(options), progress);
  });
  return with_file(file, [&] {
    return std::make_shared<VisionLanguageModel>(
        tower, language, read_image_connectors(parts, tower->spec(), language->spec().width),
        parts);
  });
}

/// The status of a model with assumptions after comparing it with a reference next to the file. A
/// reference that does not fit is reported in the status.
ModelStatus compared_status(const Model& model, const Progress& progress) {
  ModelStatus status = model.status();
  if (status.state != ModelState::unconfirmed) return status;
  const std::optional<std::filesystem::path> reference = reference_beside(model.file());
  if (!reference) return status;
  try {
    const SelfTest test = self_test(model, *reference, progress);
    return status.compared(in_words(test), test.agrees());
  } catch (const Error& error) {
    status.reference = std::string("was not compared with its reference: ") + error.what();
    return status;
  }
}

/// A model of any number of parts. If it `compares`, a model of one part is compared with a
/// reference next to its file.
std::shared_ptr<const Model> read_any(const Checkpoint& checkpoint,
                                      const std::filesystem::path& file,
                                      const ModelOptions& options, const Progress& progress,
                                      bool compares) {
  if (const auto parts = vision_language_file(checkpoint, options)) {
    return read_parts(*parts, file, options, progress);
  }
  const std::shared_ptr<Transformer> model = read_transformer(checkpoint, file, options, progress);
  if (compares) model->set_status(compared_status(*model, progress.silent()));
  return model;
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  progress.step(0, "opening " + file.filename().string());
  return read_any(open_model_file(file, options), file, options, progress, true);
}

std::shared_ptr<const Model> read_model(const Checkpoint& checkpoint,
                                        const std::filesystem::path& file,
                                        const ModelOptions& options, const Progress& progress) {
  return read_any(checkpoint, file, options, progress, false);
}

}  // namespace attnscope
