// GPT-2's byte-level byte-pair encoding (Radford et al. 2019, 2.2).
#pragma once

#include <filesystem>

#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Reads both. `size`: tokens of the model; the files may have fewer. Throws Error(io, damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> read_byte_pairs(const std::filesystem::path& folder,
                                                                std::int64_t size);

/// A text as GPT-2 splits it before merging: contractions, words, numbers and other signs, each
/// with the one space before it, and the remaining space. Throws Error(usage) unless it is UTF-8.
[[nodiscard]] std::vector<std::string> split_into_words(const std::string& text);

}  // namespace attnscope
