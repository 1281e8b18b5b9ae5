// Reads a SentencePiece model next to the weights. The ids of its pieces and the cleaning of texts
// are not stored in files but in the code of each tokenizer class.
#pragma once

#include <filesystem>
#include <memory>

#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// The tokenizer of `file`, as in transformers for the class named in tokenizer_config.json, or
/// config.json, next to it: Llama, Gemma, SigLIP, T5, ALBERT or XLM-R. Throws Error(unsupported)
/// naming another class or setting, Error(damaged).
[[nodiscard]] std::shared_ptr<const Vocabulary> read_sentence_piece_folder(
    const std::filesystem::path& file);

}  // namespace attnscope
