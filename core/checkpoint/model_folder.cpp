#include "core/checkpoint/model_folder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr const char* kUsual[] = {"model.safetensors.index.json", "model.safetensors",
                                  "pytorch_model.bin.index.json", "pytorch_model.bin"};

constexpr std::string_view kExtensions[] = {".safetensors", ".pt",  ".pth",  ".bin", ".ckpt",
                                            ".h5",          ".npz", ".hdf5", ".hdf"};

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

bool is_model_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return false;
  return is_file(path / "config.json") ||
         std::any_of(std::begin(kUsual), std::end(kUsual),
                     [&](const char* name) { return is_file(path / name); });
}

std::filesystem::path weight_file_in(const std::filesystem::path& folder) {
  for (const char* name : kUsual) {
    if (is_file(folder / name)) return folder / name;
  }
  if (is_file(folder / "adapter_config.json")) {
    throw Error(ErrorKind::unsupported, "the folder holds an adapter (PEFT), not a model")
        .in_file(folder)
        .remedy("merge it into its base model: merge_and_unload(), then save_pretrained()");
  }
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string extension = entry.path().extension().string();
    const bool known = std::find(std::begin(kExtensions), std::end(kExtensions), extension) !=
                       std::end(kExtensions);
    if (known && is_file(entry.path())) names.push_back(entry.path().filename().string());
  }
  if (names.size() == 1) return folder / names.front();
  std::sort(names.begin(), names.end());
  if (names.size() > 8) {
    names.resize(8);
    names.emplace_back("…");
  }
  Error error(ErrorKind::unsupported, names.empty() ? "the folder holds no weight file"
                                                    : "the folder holds several weight files");
  error.in_file(folder).expected(name_list(kUsual));
  if (!names.empty()) error.found(name_list(names)).remedy("open one of them");
  throw std::move(error);
}

}  // namespace attnscope
