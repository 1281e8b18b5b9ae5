// A tokenizer of stages: added tokens, normaliser, pre-tokenizer, model, post-processor, decoder.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/memory/budget.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/decoder.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/post_processor.h"
#include "core/tokenizer/pre_tokenizer.h"
#include "core/tokenizer/token_model.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// What opening a tokenizer's file may cost: SentencePiece's are the ones that grow most,
/// twelvefold.
inline constexpr BudgetRates kTokenizerRates{
    .always = 64 << 20, .a_byte = 32, .most = std::uint64_t{1} << 30};

struct TokenizerStages {
  Normalizer cleaning;  ///< of the whole text, before tokens are looked for in it; may be null
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::shared_ptr<const TokenModel> model;
  std::vector<AddedToken> added;
  PostProcessor post_processor;
  TokenText decoder;
};

/// The tokens that are special are those of `added` that say so.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_tokenizer(TokenizerStages stages);

/// What Hugging Face's tokenizers saves. Truncation and padding are not done. `cleaning` as
/// TokenizerStages::cleaning. Throws Error(unsupported) naming what is not implemented,
/// Error(damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> tokenizer_of_json(const nlohmann::json& object,
                                                                  Normalizer cleaning = {});

/// The tokenizer that lies beside a model: tokenizer.json, else vocab.txt (WordPiece), else
/// vocab.json and merges.txt (byte pairs), else a SentencePiece model; the last three with what
/// tokenizer_config.json and added_tokens.json say of them. Null if none of these files is there.
/// Throws Error naming the file.
[[nodiscard]] std::shared_ptr<const Vocabulary> read_tokenizer(const std::filesystem::path& folder);

}  // namespace attnscope
