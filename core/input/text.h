// Texts as users give them: characters, or tokens already numbered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// One of the two is empty.
struct Text {
  std::string characters;         ///< UTF-8, as the file has them
  std::vector<std::int64_t> ids;  ///< numbers of tokens in the model's vocabulary
};

}  // namespace attnscope
