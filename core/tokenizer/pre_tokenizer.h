// The second stage of a tokenizer: splitting into words, which tokens do not extend beyond.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/aligned_text.h"

namespace attnscope {

/// Splits the pieces that are not tokens yet into smaller ones, and may rewrite them.
using PreTokenizer = std::function<void(std::vector<TextPiece>&)>;

/// Makes the "pre_tokenizer" of a tokenizer.json; null splits nothing. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] PreTokenizer make_pre_tokenizer(const nlohmann::json& object,
                                              const std::string& place = "pre_tokenizer");

/// Regular expression of GPT-2's words: contractions, words, numbers and other characters, each
/// with at most one space before it, and the remaining white space.
extern const std::string_view gpt2_words;

}  // namespace attnscope
