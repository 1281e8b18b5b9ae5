// Finds the tokenizer of a text model that does not specify one.
#pragma once

#include <string>

#include "core/architecture/model_spec.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct FoundTokenizer {
  Tokenizer kind = Tokenizer::ids;
  std::string reason;  ///< reason of an assumption; empty if known
};

/// Tokenizer from the files next to the weights or in them, the labels, and the size of the
/// vocabulary.
[[nodiscard]] FoundTokenizer tokenizer_of(const Checkpoint& checkpoint, const ModelSpec& spec);

}  // namespace attnscope
