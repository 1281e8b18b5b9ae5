// Unicode properties, case and normalisation of characters, by ICU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

[[nodiscard]] bool is_white_space(char32_t c);
/// True for category P and all ASCII punctuation, some of which Unicode classifies as symbols.
[[nodiscard]] bool is_punctuation(char32_t c);
[[nodiscard]] bool is_number(char32_t c);           ///< category N
[[nodiscard]] bool is_mark(char32_t c);             ///< category M
[[nodiscard]] bool is_nonspacing_mark(char32_t c);  ///< category Mn
[[nodiscard]] bool is_other(char32_t c);            ///< category C: controls, unassigned, …
[[nodiscard]] bool is_word_character(char32_t c);   ///< \w of UTS 18

/// The lower case of a character in UTF-8: the full mapping without context. İ becomes two
/// characters, Σ never becomes ς.
[[nodiscard]] std::string lower_case(char32_t c);

[[nodiscard]] std::string utf8_of(char32_t c);

/// Normalisation boundaries of `text` (UTF-8): starts of the parts that can be normalised
/// independently, and the end.
[[nodiscard]] std::vector<std::size_t> normal_boundaries(std::string_view text, NormalForm form);
[[nodiscard]] std::string normal(std::string_view text, NormalForm form);

/// Starts of the extended grapheme clusters (UAX 29) of a UTF-8 text, and the end.
[[nodiscard]] std::vector<std::size_t> grapheme_starts(std::string_view text);

}  // namespace attnscope
