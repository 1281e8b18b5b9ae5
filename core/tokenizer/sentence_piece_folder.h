// A SentencePiece model beside the weights: which numbers its pieces have, and what is done to
// texts before, stand in no file but the code of each class of tokenizers.
#pragma once

#include <filesystem>
#include <memory>

#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// The tokenizer of `file`, as transformers has it for the class that tokenizer_config.json, or
/// config.json, beside it names: Llama's, Gemma's, SigLIP's, T5's, ALBERT's, XLM-R's. Throws
/// Error(unsupported) naming another class or setting, Error(damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> read_sentence_piece_folder(
    const std::filesystem::path& file);

}  // namespace attnscope
