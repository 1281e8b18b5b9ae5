#include "core/checkpoint/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/checkpoint/part_name.h"
#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

std::vector<std::filesystem::path> weight_files(const std::filesystem::path& path) {
  if (auto parts = part_paths(path); !parts.empty()) return parts;
  std::vector<std::filesystem::path> files = {path};
  if (!path.filename().string().ends_with(".index.json")) return files;
  try {
    const nlohmann::json index = read_json_file(path);
    if (!index.is_object() || !index.contains("weight_map")) return files;
    for (const auto& [tensor, shard] : index.at("weight_map").items()) {
      if (shard.is_string()) files.push_back(path.parent_path() / shard.get<std::string>());
    }
  } catch (const Error&) {
    // Opening the file reports the error.
  }
  std::ranges::sort(files);
  // clang 14 cannot compile std::ranges::unique with GCC's library.
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace attnscope
