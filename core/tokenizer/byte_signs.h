// The characters that stand for bytes in byte-level vocabularies (GPT-2, Radford et al. 2019, 2.2).
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

class AlignedText;

/// `text` with each byte as the character that stands for it: printing ones for themselves, Ġ for a
/// space.
[[nodiscard]] AlignedText as_byte_signs(const AlignedText& text);

/// What a token of such a vocabulary says; the token itself if a character of it stands for no
/// byte (special tokens).
[[nodiscard]] std::string bytes_of_signs(std::string_view written);

}  // namespace attnscope
