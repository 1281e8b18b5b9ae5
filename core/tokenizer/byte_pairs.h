// The files of byte-level byte-pair encoding (GPT-2, Radford et al. 2019, 2.2): vocab.json, the
// tokens with their numbers; merges.txt, the pairs in the order in which they are merged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tokenizer/token_model.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Reads both; <|endoftext|> is found in texts. `size`: tokens of the model; the files may have
/// fewer. Throws Error(io, damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> read_byte_pairs(const std::filesystem::path& folder,
                                                                std::int64_t size);

/// vocab.json. Throws Error(io, damaged) naming the file and the token.
[[nodiscard]] TokenTable read_token_table(const std::filesystem::path& path);
/// merges.txt. Throws Error(io, damaged) naming the file and the line.
[[nodiscard]] Merges read_merges(const std::filesystem::path& path);
/// Without their ends. Throws Error(io, damaged).
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& path);

/// A text as GPT-2 splits it before merging: contractions, words, numbers and other signs, each
/// with the one space before it, and the remaining space. Throws Error(usage) unless it is UTF-8.
[[nodiscard]] std::vector<std::string> split_into_words(const std::string& text);

}  // namespace attnscope
