// Texts given by users, characters or token ids, and files that hold them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/image.h"

namespace attnscope {

/// A text; either `characters` or `ids` is empty.
struct Text {
  std::string characters;         ///< UTF-8, unchanged from the file
  std::vector<std::int64_t> ids;  ///< token ids in the model's vocabulary
  /// The second text of a pair (question and answer, premise and hypothesis).
  std::optional<std::string> second = std::nullopt;
  std::vector<std::int64_t> second_ids = {};  ///< token ids of the second text of a pair
  /// The pictures that the text asks about, in their order in it; for models of pictures and texts.
  std::vector<std::shared_ptr<const Image>> pictures = {};
  /// A message to an assistant: the model's chat template gives the text around it.
  bool chat = false;
};

/// Length limit of a text in bytes.
constexpr std::size_t longest_text = std::size_t{16} << 20;

/// True if the file name is that of a text: .txt, .text or .md.
[[nodiscard]] bool is_text_file_name(const std::filesystem::path& file);

/// The whole file, bytes unchanged. Throws Error(io), and Error(unsupported) for more than
/// longest_text bytes, Error(usage) for an empty one.
[[nodiscard]] Text read_text(const std::filesystem::path& file);

/// The part [first, last) in characters from 0, for "PATH#100-356". `last` is limited to the end of
/// the text. Throws Error(usage) for a part that is empty or begins after the end.
[[nodiscard]] Text part_of_text(const Text& text, std::int64_t first, std::int64_t last);

/// Parses token ids separated by commas or spaces ("1, 2,3"). Throws Error(usage) naming an invalid
/// token id.
[[nodiscard]] Text parse_token_ids(std::string_view list);

/// Byte offset of each UTF-8 character, followed by the length of the text. A byte that is not
/// valid UTF-8 counts as one character.
[[nodiscard]] std::vector<std::size_t> character_starts(std::string_view utf8);

/// Offset of the first byte that is not part of valid UTF-8, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view bytes);

}  // namespace attnscope
