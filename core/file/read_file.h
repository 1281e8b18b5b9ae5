// Reads small files whole: configurations, vocabularies, descriptions, sessions; and names folders.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/text/json.h"

namespace attnscope {

/// True if the path exists, even as a broken link. Reading a broken link is an error.
[[nodiscard]] bool is_entry(const std::filesystem::path& path);

/// A copy of all bytes. Throws Error(io) if the file cannot be opened, is not a regular file (a
/// pipe might never end), or changes while it is read, and Error(damaged) if it has more than
/// `most` bytes.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t most);

/// Parses a JSON file of at most `most` bytes. Throws like read_file and parse_json, naming the
/// file.
[[nodiscard]] nlohmann::json read_json_file(const std::filesystem::path& path,
                                            std::size_t most = std::size_t{64} << 20,
                                            const JsonLimits& limits = {});

/// The folder's own name, however its path is written: "run" for "runs/run", "runs/run/" and, if it
/// is the current folder, "."; empty for "/".
[[nodiscard]] std::string name_of_folder(const std::filesystem::path& folder);

/// The folders in a folder, sorted by name: the classes of torchvision's ImageFolder in order.
/// Throws Error(io) naming the folder if it cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

}  // namespace attnscope
