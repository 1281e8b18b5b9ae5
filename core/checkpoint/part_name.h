// The names of a split model's parts: NAME-00001-of-00003.gguf, .safetensors or .bin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

struct PartName {
  std::string model;      ///< what stands before the numbers: "NAME"
  std::int64_t part = 1;  ///< from 1
  std::int64_t parts = 1;
  std::string extension = ".gguf";

  /// The file's name.
  [[nodiscard]] std::string text() const;
};

/// Nothing for a file that is named otherwise: a whole model. Parts are 1 to 4096 of as many.
[[nodiscard]] std::optional<PartName> part_name(const std::string& file_name);

/// The paths of all parts of the model that `path` is a part of, in their order, there or not;
/// none if it is not named as a part.
[[nodiscard]] std::vector<std::filesystem::path> part_paths(const std::filesystem::path& path);

}  // namespace attnscope
