// What a folder is called, however the path to it is written.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

/// Its own name: "run" of "runs/run", "runs/run/" and, inside of it, of "."; empty of "/".
[[nodiscard]] std::string name_of_folder(const std::filesystem::path& folder);

}  // namespace attnscope
