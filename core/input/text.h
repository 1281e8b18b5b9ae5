// Texts as users give them: characters, or tokens already numbered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

/// Either characters or ids are empty.
struct Text {
  std::string characters;         ///< UTF-8, as the file has them
  std::vector<std::int64_t> ids;  ///< numbers of tokens in the model's vocabulary
  /// The characters of the second text of a pair: question and answer, premise and hypothesis.
  std::optional<std::string> second = std::nullopt;
  std::vector<std::int64_t> second_ids = {};  ///< of a pair of which tokens are numbered
};

}  // namespace attnscope
