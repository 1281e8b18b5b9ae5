// Tokens that fill up texts.
#pragma once

#include "core/architecture/spec/input_spec.h"
#include "core/input/input.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Takes away tokens `id` at the end of a text; none if it is −1. Throws Error(usage) naming
/// `input` for one before the end, and for a text of nothing else.
void leave_out_padding(std::int64_t id, const Input& input, TokenizedText& tokens);

/// Adds tokens spec.padding up to spec.context, as tokens that stand for no text.
void fill_up(const InputSpec& spec, const Vocabulary& vocabulary, TokenizedText& tokens);

}  // namespace attnscope
