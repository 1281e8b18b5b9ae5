#include "core/attention/token_layout.h"

#include "core/input/text.h"

namespace attnscope {

std::string TokenLayout::name(std::int64_t index) const {
  if (const TokenCells grid = cells(); grid.contains(index)) {
    const std::int64_t cell = index - grid.first;
    return "(" + std::to_string(cell / grid.columns) + ", " + std::to_string(cell % grid.columns) +
           ")";
  }
  if (index < std::ssize(texts)) {
    return visible_text(texts[static_cast<std::size_t>(index)]);
  }
  if (index < prefix) {
    const std::int64_t first_register = prefix - registers;
    if (index >= first_register) return "register " + std::to_string(index - first_register);
    if (index == 0) return "class";
    if (index == 1) return "distillation";
    return "prefix " + std::to_string(index);
  }
  return std::to_string(index);
}

std::string visible_text(const std::string& token) {
  constexpr char digits[] = "0123456789ABCDEF";
  const std::vector<std::size_t> starts = character_starts(token);
  std::string text;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string character = token.substr(starts[i], starts[i + 1] - starts[i]);
    const auto byte = static_cast<unsigned char>(character[0]);
    if (character == " ") {
      text += "␣";
    } else if (character == "\n") {
      text += "↵";
    } else if (character == "\t") {
      text += "⇥";
    } else if (byte < 32 || byte == 127 || (byte >= 128 && character.size() == 1)) {
      text += std::string("\\x") + digits[byte / 16] + digits[byte % 16];
    } else {
      text += character;
    }
  }
  return text;
}

}  // namespace attnscope
