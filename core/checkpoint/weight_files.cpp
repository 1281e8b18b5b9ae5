#include "core/checkpoint/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostParts = 4096;

std::string five_digits(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string PartName::text() const {
  return model + "-" + five_digits(part) + "-of-" + five_digits(parts) + extension;
}

std::optional<PartName> part_name(const std::string& file_name) {
  static const std::regex numbered(R"((.*)-(\d{5})-of-(\d{5})(\.gguf|\.safetensors|\.bin))");
  std::smatch match;
  if (!std::regex_match(file_name, match, numbered)) return std::nullopt;
  PartName name{match[1].str(), std::stoll(match[2]), std::stoll(match[3]), match[4].str()};
  if (name.part < 1 || name.part > name.parts || name.parts > kMostParts) return std::nullopt;
  return name;
}

std::vector<std::filesystem::path> part_paths(const std::filesystem::path& path) {
  std::optional<PartName> name = part_name(path.filename().string());
  if (!name) return {};
  std::vector<std::filesystem::path> paths;
  for (name->part = 1; name->part <= name->parts; ++name->part) {
    paths.push_back(path.parent_path() / name->text());
  }
  return paths;
}

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
