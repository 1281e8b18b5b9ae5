// How the texts of a model become tokens, where nothing says it.
#pragma once

#include <string>

#include "core/architecture/model_spec.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct FoundTokenizer {
  Tokenizer kind = Tokenizer::ids;
  std::string reason;  ///< why that is assumed; empty: it is known
};

/// By what lies beside the weights or in them, the labels, and the size of the vocabulary.
[[nodiscard]] FoundTokenizer tokenizer_of(const Checkpoint& checkpoint, const ModelSpec& spec);

}  // namespace attnscope
