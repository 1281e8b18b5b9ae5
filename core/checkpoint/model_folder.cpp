#include "core/checkpoint/model_folder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/checkpoint/adapter.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUsual[] = {"model.safetensors.index.json", "model.safetensors",
                                  "pytorch_model.bin.index.json", "pytorch_model.bin",
                                  "open_clip_model.safetensors",  "open_clip_pytorch_model.bin",
                                  "consolidated.safetensors",     "consolidated.00.pth",
                                  "flax_model.msgpack",           "tf_model.h5"};

/// Files that a training run saves next to the weights.
constexpr std::string_view kBesideWeights[] = {"training_args.bin", "optimizer.pt",
                                               "optimizer.bin",     "scheduler.pt",
                                               "scaler.pt",         "rng_state.pth"};

constexpr std::size_t kShownNames = 8;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_weight_file(const std::string& name) {
  if (std::ranges::find(kBesideWeights, name) != std::end(kBesideWeights)) return false;
  const std::string extension = fs::path(name).extension().string();
  if (extension.empty() || extension == ".npy" || extension == ".json") return false;
  return std::ranges::any_of(checkpoint_formats(), [&](const CheckpointFormat& format) {
    const std::string extensions = " " + std::string(format.extensions) + " ";
    return extensions.find(" " + extension + " ") != std::string::npos;
  });
}

/// True if an earlier part of the same model exists in the folder.
bool is_later_part(const fs::path& path) {
  for (const fs::path& part : part_paths(path)) {
    if (part == path) return false;
    if (is_file(part)) return true;
  }
  return false;
}

std::vector<std::string> names_in(const fs::path& folder, bool (*wanted)(const fs::path&)) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (wanted(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> weight_files_in(const fs::path& folder) {
  return names_in(folder, [](const fs::path& path) {
    const std::string name = path.filename().string();
    return is_weight_file(name) && !is_later_part(path) && is_file(path);
  });
}

/// Names of sub-folders that a training run saved, sorted by step.
std::vector<std::string> checkpoints_in(const fs::path& folder) {
  static constexpr std::string_view prefix = "checkpoint-";
  std::vector<std::string> names = names_in(folder, [](const fs::path& path) {
    return path.filename().string().starts_with(prefix) && is_model_folder(path);
  });
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    return parse_whole(name.substr(prefix.size())).value_or(0);
  });
  return names;
}

std::string shown(std::vector<std::string> names) {
  if (names.size() > kShownNames) {
    names.resize(kShownNames);
    names.emplace_back("…");
  }
  return name_list(names);
}

Error several(const fs::path& folder, const char* what, std::vector<std::string> names) {
  return Error(ErrorKind::unsupported, std::string("the folder holds several ") + what)
      .in_file(folder)
      .found(shown(std::move(names)))
      .remedy("open one of them");
}

}  // namespace

bool is_model_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  return is_file(path / "config.json") || is_adapter_folder(path) ||
         std::ranges::any_of(kUsual, [&](const char* name) { return is_file(path / name); }) ||
         !names_in(path, [](const fs::path& file) { return file.extension() == ".gguf"; }).empty();
}

fs::path weight_file_in(const fs::path& folder) {
  for (const char* name : kUsual) {
    if (!is_file(folder / name)) continue;
    if (std::string_view(name) == "consolidated.00.pth" &&
        is_file(folder / "consolidated.01.pth")) {
      throw Error(ErrorKind::unsupported, "the model is split into shards for several processors")
          .in_file(folder)
          .found("consolidated.00.pth, consolidated.01.pth, …")
          .remedy("convert it: convert_llama_weights_to_hf.py of transformers merges the shards");
    }
    return folder / name;
  }
  const std::vector<std::string> names = weight_files_in(folder);
  if (names.size() == 1) return folder / names.front();
  if (names.size() > 1) throw several(folder, "weight files", names).expected(name_list(kUsual));
  const std::vector<std::string> checkpoints = checkpoints_in(folder);
  if (checkpoints.size() > 1) throw several(folder, "checkpoints of a training run", checkpoints);
  if (checkpoints.size() == 1 && !is_adapter_folder(folder / checkpoints.front())) {
    return weight_file_in(folder / checkpoints.front());
  }
  Error error(ErrorKind::unsupported, "the folder holds no weight file");
  error.in_file(folder).expected(name_list(kUsual));
  if (!checkpoints.empty()) error.remedy("open the adapter in " + checkpoints.front());
  throw std::move(error);
}

}  // namespace attnscope
