#include "core/checkpoint/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

/// "q-00001-of-00003.gguf" and its like: all parts of a split file; none if it is not split.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  static const std::regex numbered(R"((.*-)(\d{5})(-of-)(\d{5})(\.gguf))");
  std::smatch match;
  if (!std::regex_match(name, match, numbered)) return {};
  std::vector<std::filesystem::path> parts;
  const int count = std::stoi(match[4]);
  for (int part = 1; part <= count; ++part) {
    std::string number = std::to_string(part);
    number.insert(0, 5 - number.size(), '0');
    parts.push_back(path.parent_path() /
                    (match[1].str() + number + match[3].str() + match[4].str() + match[5].str()));
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
  const auto repeated = std::ranges::unique(files);
  files.erase(repeated.begin(), repeated.end());
  return files;
}

}  // namespace attnscope
