// The list of checkpoint formats: one file a format in formats/, one line each in formats.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct CheckpointFormat {
  std::string_view name;        ///< "safetensors"
  std::string_view extensions;  ///< ".safetensors .index.json": shown in dialogs and errors
  /// True if a file that starts with these bytes (at most 64) and has this name is of the format.
  bool (*recognises)(const std::filesystem::path& path, std::span<const std::byte> head);
  /// Throws Error(not_this_format | damaged | unsupported | io), which names a file only where it
  /// is another than `path`; open_checkpoint names that one.
  Checkpoint (*open)(const std::filesystem::path& path);
};

[[nodiscard]] std::span<const CheckpointFormat> checkpoint_formats();

}  // namespace attnscope
