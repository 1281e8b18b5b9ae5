// Small files read whole: configurations, vocabularies, descriptions, sessions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/text/json.h"

namespace attnscope {

/// Whether the folder has such an entry: a link that leads nowhere is one too, and an error to
/// read.
[[nodiscard]] bool is_entry(const std::filesystem::path& path);

/// All bytes, copied. Throws Error(io) if the file cannot be opened, is no regular file (a pipe
/// would never end), or changes while it is read, and Error(damaged) if it has more than `most`.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t most);

/// The JSON text in a file of at most `most` bytes. Throws as read_file and parse_json do, naming
/// the file.
[[nodiscard]] nlohmann::json read_json_file(const std::filesystem::path& path,
                                            std::size_t most = std::size_t{64} << 20,
                                            const JsonLimits& limits = {});

}  // namespace attnscope
