// A tokenizer of stages: added tokens, normaliser, pre-tokenizer, model, post-processor, decoder.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/budget.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/stages.h"
#include "core/tokenizer/token_model.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Budget for opening a tokenizer's file. SentencePiece files need the most memory, 12 times their
/// size.
inline constexpr BudgetRates kTokenizerRates{
    .always = 64 << 20, .a_byte = 32, .most = std::uint64_t{1} << 30};

struct TokenizerStages {
  Normalizer cleaning;  ///< cleans the whole text before added tokens are matched; may be null
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::shared_ptr<const TokenModel> model;
  std::vector<AddedToken> added;
  PostProcessor post_processor;
  TokenText decoder;
};

/// Makes a tokenizer. Its special tokens are those of `added` that are marked as special.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_tokenizer(TokenizerStages stages);

/// Makes a tokenizer from a tokenizer.json of Hugging Face's tokenizers. Truncation and padding are
/// ignored. `cleaning`: see TokenizerStages::cleaning. Throws Error(unsupported) naming the
/// unsupported part, Error(damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> tokenizer_of_json(const nlohmann::json& object,
                                                                  Normalizer cleaning = {});

/// Reads the tokenizer in a model's folder: tokenizer.json, else vocab.txt (WordPiece), else
/// vocab.json and merges.txt (byte pairs), else a SentencePiece model. The last three use settings
/// of tokenizer_config.json and added_tokens.json. Null if there is no such file. Throws Error
/// naming the file.
[[nodiscard]] std::shared_ptr<const Vocabulary> read_tokenizer(const std::filesystem::path& folder);

}  // namespace attnscope
