// The content of a folder, for comparison with another.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/temporary_folder.h"

namespace attnscope {

/// The bytes of every file by name.
[[nodiscard]] inline std::map<std::string, std::string> folder_bytes(
    const std::filesystem::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    all[entry.path().filename().string()] = read_bytes(entry.path());
  }
  return all;
}

}  // namespace attnscope
