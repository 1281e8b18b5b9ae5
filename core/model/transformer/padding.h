// Removes and adds padding tokens of texts.
#pragma once

#include "core/architecture/spec/input_spec.h"
#include "core/input/input.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Removes tokens `id` at the end of a text; does nothing if `id` is negative. Throws Error(usage)
/// naming `input` if such a token comes before the end or if the text is nothing but padding.
void leave_out_padding(std::int64_t id, const Input& input, TokenizedText& tokens);

/// Appends tokens spec.padding up to spec.context; they are marked as special.
void fill_up(const InputSpec& spec, const Vocabulary& vocabulary, TokenizedText& tokens);

}  // namespace attnscope
