// Texts and lists of token ids, as inputs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/text.h"

namespace attnscope {

/// Bytes of the longest text that is read.
constexpr std::size_t longest_text = std::size_t{16} << 20;

/// Whether a file of that name is taken as a text: .txt, .text or .md.
[[nodiscard]] bool is_text_file_name(const std::filesystem::path& file);

/// The whole file, its bytes as they are. Throws Error(io), and Error(unsupported) for more than
/// longest_text bytes, Error(usage) for an empty one.
[[nodiscard]] Text read_text(const std::filesystem::path& file);

/// The characters [first, last) of `text`, counted from 0: "PATH#100-356". Throws Error(usage) for
/// a part that is empty or begins after the end; one that ends after it ends there.
[[nodiscard]] Text part_of_text(const Text& text, std::int64_t first, std::int64_t last);

/// "1, 2,3" or numbers with spaces between. Throws Error(usage) naming what is not a token id.
[[nodiscard]] Text parse_token_ids(std::string_view list);

/// The start of each character of UTF-8, and the end. A byte that is no valid UTF-8 counts as one
/// character of its own.
[[nodiscard]] std::vector<std::size_t> character_starts(std::string_view utf8);

/// The place of the first byte that is not part of valid UTF-8, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view bytes);

}  // namespace attnscope
