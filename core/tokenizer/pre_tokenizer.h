// The second stage of a tokenizer: where words end, across which no token reaches.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/aligned_text.h"

namespace attnscope {

/// Cuts the pieces that are no tokens yet into smaller ones, and may rewrite them.
using PreTokenizer = std::function<void(std::vector<TextPiece>&)>;

/// "pre_tokenizer" of a tokenizer.json; null cuts nothing. Throws Error(unsupported) naming what is
/// not implemented, Error(damaged).
[[nodiscard]] PreTokenizer make_pre_tokenizer(const nlohmann::json& object,
                                              const std::string& place = "pre_tokenizer");

/// GPT-2's words: contractions, words, numbers and other signs, each with the one space before it,
/// and the remaining space.
extern const std::string_view gpt2_words;

}  // namespace attnscope
