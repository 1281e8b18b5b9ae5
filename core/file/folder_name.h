// Name of a folder, independent of how its path is written.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

/// The folder's own name: "run" for "runs/run", "runs/run/" and, if it is the current folder, ".";
/// empty for "/".
[[nodiscard]] std::string name_of_folder(const std::filesystem::path& folder);

}  // namespace attnscope
