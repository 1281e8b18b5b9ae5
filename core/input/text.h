// Texts given by users: characters or token ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

/// A text; either `characters` or `ids` is empty.
struct Text {
  std::string characters;         ///< UTF-8, unchanged from the file
  std::vector<std::int64_t> ids;  ///< token ids in the model's vocabulary
  /// The second text of a pair (question and answer, premise and hypothesis).
  std::optional<std::string> second = std::nullopt;
  std::vector<std::int64_t> second_ids = {};  ///< token ids of the second text of a pair
};

}  // namespace attnscope
