// Opens training data of the kind that a path indicates.
#include "core/training/data/training_data.h"

#include <filesystem>

#include "core/error.h"
#include "core/input/data_set_kinds.h"
#include "core/input/text.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

/// The IDX images of that part in a folder, or the path itself.
fs::path images_at(const fs::path& path, const char* part) {
  fs::path images = idx_images_in(path, part);
  return images.empty() ? path : images;
}

/// The t10k-… file next to a train-… file; empty if there is none.
fs::path test_images_beside(const fs::path& images) {
  std::string name = images.filename().string();
  if (!name.starts_with("train-")) return {};
  const fs::path other = images.parent_path() / ("t10k-" + name.substr(6));
  return fs::exists(other) ? other : fs::path();
}

std::shared_ptr<const DataSet> open_as(const char* key, const fs::path& path) {
  try {
    return open_data_set(path);
  } catch (Error& error) {
    if (error.subject().empty()) error.about(key);
    throw;
  }
}

}  // namespace

std::shared_ptr<const TrainingData> open_training_data(const DataSettings& settings) {
  if (is_text_file_name(settings.dataset)) return open_training_text(settings);
  const fs::path path = images_at(settings.dataset, "train");
  const fs::path test_path = settings.test_dataset.empty()
                                 ? test_images_beside(path)
                                 : images_at(settings.test_dataset, "t10k");
  auto training = open_as("dataset", path);
  auto test = test_path.empty() ? nullptr : open_as("test_dataset", test_path);
  const bool texts =
      training->size() > 0 && std::holds_alternative<Text>(training->item(0).content);
  const auto make = texts ? make_training_texts : make_training_images;
  return make(settings, std::move(training), std::move(test));
}

}  // namespace attnscope
