// Words that people's code has for the parts of a transformer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// "a.b.c" → a, b, c.
[[nodiscard]] std::vector<std::string> segments_of(std::string_view name);
[[nodiscard]] bool is_number(std::string_view segment);

/// "W_q" and "wq" are one word: lower case, without underscores.
[[nodiscard]] std::string plain_word(std::string_view segment);

/// What a word says alone, wherever it stands.
enum class PartWord {
  none,
  query,
  key,
  value,
  qkv,              ///< all three, rows of queries first
  attention,        ///< the module around them
  other_attention,  ///< one that asks another text
  mlp,              ///< the module around its layers
  mask
};
[[nodiscard]] PartWord part_word(std::string_view word);

/// In a decoder of PyTorch's, beside "self_attn": the attention to another text.
inline constexpr std::string_view kTorchCross = "multiheadattn";

/// The projection of the heads' output, said inside an attention, or in a block where `alone`.
[[nodiscard]] bool says_output(std::string_view word, bool alone);

/// Which of the norms of a block it is, from 1 on, a decoder's third included; 0: it does not say.
[[nodiscard]] int norm_number(std::string_view word);
[[nodiscard]] bool says_norm(std::string_view word);

/// Which layer of an MLP: 1 or 2; 3 for the gate; 0: it does not say.
[[nodiscard]] int mlp_number(std::string_view word);

/// What stands outside the blocks.
enum class OuterWord { none, tokens, positions, class_token, patch, input, head };
/// `name` is the whole name, its segments as plain words with dots between.
[[nodiscard]] OuterWord outer_word(std::string_view name);
/// A name that says that the norm is the last: "ln_f", "norm".
[[nodiscard]] bool says_final(std::string_view word);

}  // namespace attnscope
