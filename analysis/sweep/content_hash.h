// Hashes of the inputs of a long computation, so that only the same computation is resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

/// XXH3 of the bytes of files, and of the names, sizes and times of all files inside folders.
/// Throws Error(io).
[[nodiscard]] std::string content_hash(const std::vector<std::filesystem::path>& paths);
/// Hash of a text.
[[nodiscard]] std::string content_hash(const std::string& text);
/// Hash of weights that were learned in addition to the model's.
[[nodiscard]] std::string content_hash(const std::vector<NamedTensors>& layers);

}  // namespace attnscope
