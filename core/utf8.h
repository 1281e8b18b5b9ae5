// Decoding of untrusted UTF-8, and digits.
#pragma once

#include <cstddef>
#include <string_view>

namespace attnscope {

/// Length in bytes of the character at `at`, or 0 if it is invalid: a wrong first byte, a truncated
/// character, an overlong form, a surrogate, or a code point above U+10FFFF (The Unicode Standard,
/// Table 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// Code point of the character at `at`; `length` is the nonzero result of utf8_length.
[[nodiscard]] char32_t utf8_character(std::string_view text, std::size_t at, std::size_t length);

[[nodiscard]] constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace attnscope
