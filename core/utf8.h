// UTF-8, read without trust.
#pragma once

#include <cstddef>
#include <string_view>

namespace attnscope {

/// Bytes of the character that begins at `at`, or 0 if none does: a byte that begins none, a
/// character cut off, an overlong form, a surrogate, a number beyond U+10FFFF (The Unicode
/// Standard, Table 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// The number of the character of `length` bytes at `at`, where utf8_length found one.
[[nodiscard]] char32_t utf8_character(std::string_view text, std::size_t at, std::size_t length);

}  // namespace attnscope
