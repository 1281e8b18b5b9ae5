// The names of a split model's parts: NAME-00001-of-00003.gguf and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attnscope {

struct GgufPartName {
  std::string model;      ///< what stands before the numbers: "NAME"
  std::int64_t part = 1;  ///< from 1
  std::int64_t parts = 1;

  /// The file's name.
  [[nodiscard]] std::string text() const;
};

/// Nothing for a file that is named otherwise: a whole model.
[[nodiscard]] std::optional<GgufPartName> gguf_part_name(const std::string& file_name);

}  // namespace attnscope
