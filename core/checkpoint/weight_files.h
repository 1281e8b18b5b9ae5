// The files that hold a model's weights, and the names of a split model's parts:
// NAME-00001-of-00003.gguf, .safetensors or .bin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

/// File name of a part of a split model.
struct PartName {
  std::string model;      ///< text before the numbers: "NAME"
  std::int64_t part = 1;  ///< number of the part, from 1
  std::int64_t parts = 1;
  std::string extension = ".gguf";

  /// File name of the part.
  [[nodiscard]] std::string text() const;
};

/// Parses a part's file name; nullopt for other names (whole models). A model has 1 to 4096 parts.
[[nodiscard]] std::optional<PartName> part_name(const std::string& file_name);

/// Paths of all parts of the model that `path` is a part of, in order, whether or not they exist.
/// Empty if `path` does not have a part's name.
[[nodiscard]] std::vector<std::filesystem::path> part_paths(const std::filesystem::path& path);

/// `path` and the files it refers to: the files of an index (*.index.json), or the other parts of a
/// split model. Opens no weights. An unreadable index adds no files.
[[nodiscard]] std::vector<std::filesystem::path> weight_files(const std::filesystem::path& path);

}  // namespace attnscope
