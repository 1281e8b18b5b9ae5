// Readers of the files of byte-level byte-pair encoding (GPT-2, Radford et al. 2019, 2.2):
// vocab.json with tokens and ids, and merges.txt with pairs in merge order.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tokenizer/token_model.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Reads vocab.json and merges.txt. <|endoftext|> is matched in texts. `size`: vocabulary size of
/// the model; the files may have fewer tokens. Throws Error(io, damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> read_byte_pairs(const std::filesystem::path& folder,
                                                                std::int64_t size);

/// Reads a vocab.json. Throws Error(io, damaged) naming the file and the token.
[[nodiscard]] TokenTable read_token_table(const std::filesystem::path& path);
/// Reads a merges.txt. Throws Error(io, damaged) naming the file and the line.
[[nodiscard]] Merges read_merges(const std::filesystem::path& path);
/// Reads lines without line endings. Throws Error(io, damaged).
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& path);

}  // namespace attnscope
