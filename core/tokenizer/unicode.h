// What Unicode says of characters, by ICU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

[[nodiscard]] bool is_white_space(char32_t c);
/// ASCII's marks, of which Unicode calls some symbols, and all of category P.
[[nodiscard]] bool is_punctuation(char32_t c);
[[nodiscard]] bool is_number(char32_t c);             ///< category N
[[nodiscard]] bool is_mark(char32_t c);               ///< category M
[[nodiscard]] bool is_nonspacing_mark(char32_t c);    ///< category Mn
[[nodiscard]] bool is_other(char32_t c);              ///< category C: controls, unassigned, …
[[nodiscard]] bool is_word_character(char32_t c);     ///< \w of UTS 18
[[nodiscard]] bool is_upper_case_letter(char32_t c);  ///< category Lu

/// In UTF-8; the full mapping without context: İ becomes two characters, Σ never ς.
[[nodiscard]] std::string lower_case(char32_t c);

[[nodiscard]] std::string utf8_of(char32_t c);

/// `text` must be UTF-8. The parts between places that no normalisation reaches across: each part
/// may be normalised by itself. Starts of the parts, and the end.
[[nodiscard]] std::vector<std::size_t> normal_boundaries(std::string_view text, NormalForm form);
[[nodiscard]] std::string normal(std::string_view text, NormalForm form);

/// Starts of the extended grapheme clusters (UAX 29) of UTF-8, and the end.
[[nodiscard]] std::vector<std::size_t> grapheme_starts(std::string_view text);

}  // namespace attnscope
