// A text that records the origin of each byte while a tokenizer transforms it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/encoding.h"
#include "core/utf8.h"

namespace attnscope {

class AlignedText {
 public:
  AlignedText() = default;
  /// An original text, where each character is its own origin. Throws Error(usage) unless it is
  /// UTF-8, with the position of the invalid byte.
  explicit AlignedText(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// Origin of the bytes [begin, end): a byte range of the original text.
  [[nodiscard]] TokenPlace place(std::size_t begin, std::size_t end) const;

  void append(std::string_view written, TokenPlace from);
  /// Appends the bytes [begin, end) of another text with their origins.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  [[nodiscard]] AlignedText part(std::size_t begin, std::size_t end) const;
  /// The text preceded by `prefix`, whose origin is an empty range before the first byte.
  [[nodiscard]] AlignedText with_prefix(std::string_view prefix) const;

 private:
  struct Origin {
    std::uint32_t begin, end;
  };
  std::string text_;
  std::vector<Origin> origins_;  // origin of each byte
};

/// A part of the text that tokens do not extend beyond, or an added token.
struct TextPiece {
  AlignedText text;
  std::optional<std::int64_t> token;
};

/// Calls visit(character, begin, end) for each character of UTF-8. Invalid bytes, which tokens of a
/// damaged file have, are U+FFFD each.
void for_each_character(std::string_view text, const auto& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::size_t end = at + (length > 0 ? length : 1);
    visit(length > 0 ? utf8_character(text, at, length) : U'\uFFFD', at, end);
    at = end;
  }
}

}  // namespace attnscope
