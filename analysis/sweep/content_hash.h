// What decides a long piece of work, as a short text: so that only the same work is gone on with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"

namespace attnscope {

/// XXH3 of the files' bytes; of folders of the names, sizes and times of all files inside. Throws
/// Error(io).
[[nodiscard]] std::string content_hash(const std::vector<std::filesystem::path>& paths);
/// Of a text.
[[nodiscard]] std::string content_hash(const std::string& text);
/// Of what was learnt apart from the model.
[[nodiscard]] std::string content_hash(const std::vector<NamedTensors>& layers);

}  // namespace attnscope
