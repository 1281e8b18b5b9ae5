#include "core/checkpoint/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/checkpoint/gguf_part_name.h"
#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

/// All parts of a split file; none if it is not split.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& path) {
  std::optional<GgufPartName> name = gguf_part_name(path.filename().string());
  if (!name) return {};
  std::vector<std::filesystem::path> parts;
  for (name->part = 1; name->part <= name->parts; ++name->part) {
    parts.push_back(path.parent_path() / name->text());
  }
  return parts;
}

}  // namespace

std::vector<std::filesystem::path> weight_files(const std::filesystem::path& path) {
  if (auto parts = parts_of(path); !parts.empty()) return parts;
  std::vector<std::filesystem::path> files = {path};
  if (!path.filename().string().ends_with(".index.json")) return files;
  try {
    const nlohmann::json index = read_json_file(path);
    if (!index.is_object() || !index.contains("weight_map")) return files;
    for (const auto& [tensor, shard] : index.at("weight_map").items()) {
      if (shard.is_string()) files.push_back(path.parent_path() / shard.get<std::string>());
    }
  } catch (const Error&) {
    // Whoever opens it says what is wrong with it.
  }
  std::ranges::sort(files);
  // Not std::ranges::unique, which clang 14 cannot compile with GCC's library.
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace attnscope
