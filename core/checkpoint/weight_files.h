// Lists all files that hold a model's weights.
#pragma once

#include <filesystem>
#include <vector>

namespace attnscope {

/// `path` and the files it refers to: the files of an index (*.index.json), or the other parts of a
/// split model. Opens no weights. An unreadable index adds no files.
[[nodiscard]] std::vector<std::filesystem::path> weight_files(const std::filesystem::path& path);

}  // namespace attnscope
