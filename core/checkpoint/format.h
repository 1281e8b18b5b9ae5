// The list of checkpoint formats: one file per format in formats/, and one line in formats.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct CheckpointFormat {
  std::string_view name;        ///< "safetensors"
  std::string_view extensions;  ///< ".safetensors .index.json", for dialogs and errors
  /// True if a file with this path and these first bytes (at most 64) has the format.
  bool (*recognises)(const std::filesystem::path& path, std::span<const std::byte> head);
  /// Opens the file. Throws Error(not_this_format | damaged | unsupported | io). The error names a
  /// file only if it is not `path`; open_checkpoint adds `path`.
  Checkpoint (*open)(const std::filesystem::path& path);
};

/// Most entries of metadata that are kept from one file: a hostile file may have millions.
inline constexpr std::size_t most_metadata = 500;

[[nodiscard]] std::span<const CheckpointFormat> checkpoint_formats();

}  // namespace attnscope
