// All files that a model's weights lie in.
#pragma once

#include <filesystem>
#include <vector>

namespace attnscope {

/// `path` itself, and what it leads to: of an index (*.index.json) the files that it names, of a
/// part of a split model the other parts. Opens no weights; an index that cannot be read leads
/// nowhere.
[[nodiscard]] std::vector<std::filesystem::path> weight_files(const std::filesystem::path& path);

}  // namespace attnscope
