#include "core/tokenizer/charsmap.h"

#include <cstdint>

#include "core/budget.h"
#include "core/error.h"
#include "core/input/text.h"

namespace attnscope {

namespace {

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

Error damaged() { return Error(ErrorKind::damaged, "the tokenizer's charsmap is damaged"); }

// Fields of a unit of the trie (Darts-clone, Yata).
bool has_leaf(std::uint32_t unit) { return ((unit >> 8) & 1U) != 0; }
std::uint32_t label(std::uint32_t unit) { return unit & ((1U << 31) | 0xFFU); }
std::size_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  const std::size_t trie = bytes.size() < 4 ? 0 : little_endian(bytes, 0);
  if (trie == 0 || trie % 4 != 0 || trie > bytes.size() - 4) {
    throw damaged().found("a trie of " + std::to_string(trie) + " bytes in " +
                          std::to_string(bytes.size()));
  }
  for (std::size_t at = 4; at < 4 + trie; at += 4) units_.push_back(little_endian(bytes, at));
  texts_ = bytes.substr(4 + trie);
}

std::uint32_t Charsmap::unit(std::size_t index) const {
  if (index >= units_.size()) throw damaged().found("an index outside the trie");
  return units_[index];
}

std::optional<Charsmap::Replacement> Charsmap::find(std::string_view text, bool longest) const {
  std::optional<Replacement> found;
  std::size_t node = offset(unit(0));
  for (std::size_t i = 0; i < text.size() && (longest || !found); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label(units_[node]) != byte) break;
    const std::uint32_t here = units_[node];
    node ^= offset(here);
    if (!has_leaf(here)) continue;
    const std::size_t begin = unit(node) & 0x7FFFFFFFU;
    const std::size_t end = begin < texts_.size() ? texts_.find('\0', begin) : std::string::npos;
    if (end == std::string::npos) throw damaged().found("a string without an end");
    spend_work(i + end - begin);
    found = {i + 1, std::string_view(texts_).substr(begin, end - begin)};
    if (first_invalid_utf8(found->by) != std::string::npos ||
        first_invalid_utf8(text.substr(0, found->length)) != std::string::npos) {
      throw damaged().found("an incomplete character");
    }
  }
  return found;
}

std::optional<Charsmap::Replacement> Charsmap::shortest(std::string_view text) const {
  return find(text, false);
}

std::optional<Charsmap::Replacement> Charsmap::longest(std::string_view text) const {
  return find(text, true);
}

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
