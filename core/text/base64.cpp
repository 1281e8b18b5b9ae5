#include "core/text/base64.h"

#include <cstdint>

namespace attnscope {

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    const auto have = static_cast<unsigned>(i % 4) * 6 + 6;  // bits since the last four digits
    if (have > 6) bytes += static_cast<char>((bits >> (have % 8)) & 0xFFU);
  }
  return bytes;
}

}  // namespace attnscope
