// A text on its way through a tokenizer that still knows where each of its bytes comes from.
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
  /// A text as it was given: each character stands for itself. Throws Error(usage) unless it is
  /// UTF-8, with the place of the byte that is not.
  explicit AlignedText(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// The bytes of the given text that [begin, end) of this one stand for.
  [[nodiscard]] TokenPlace place(std::size_t begin, std::size_t end) const;

  void append(std::string_view written, TokenPlace from);
  /// [begin, end) of another.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  [[nodiscard]] AlignedText part(std::size_t begin, std::size_t end) const;
  /// The same behind `prefix`, which stands for nothing before its first byte.
  [[nodiscard]] AlignedText with_prefix(std::string_view prefix) const;

 private:
  struct Origin {
    std::uint32_t begin, end;
  };
  std::string text_;
  std::vector<Origin> origins_;  // of each byte
};

/// A part of the text between two places where no token reaches across; or one token, found.
struct TextPiece {
  AlignedText text;
  std::optional<std::int64_t> token;
};

/// Calls visit(character, begin, end) for each character of valid UTF-8.
void for_each_character(std::string_view text, const auto& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    visit(utf8_character(text, at, length), at, at + length);
    at += length;
  }
}

}  // namespace attnscope
