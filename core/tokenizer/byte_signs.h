// Characters that represent bytes in byte-level vocabularies (GPT-2, Radford et al. 2019, 2.2).
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

class AlignedText;

/// `text` with each byte replaced by its character: printable bytes by themselves, a space by Ġ.
[[nodiscard]] AlignedText as_byte_signs(const AlignedText& text);

/// The bytes of a token of such a vocabulary; the token itself if one of its characters represents
/// no byte (special tokens).
[[nodiscard]] std::string bytes_of_signs(std::string_view written);

}  // namespace attnscope
