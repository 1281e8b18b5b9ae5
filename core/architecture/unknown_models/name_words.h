// Words that people's code uses for the parts of a transformer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Splits a name at its dots: "a.b.c" → a, b, c.
[[nodiscard]] std::vector<std::string> segments_of(std::string_view name);
[[nodiscard]] bool is_number(std::string_view segment);

/// Lower case without underscores and hyphens: "W_q" and "wq" are the same word.
[[nodiscard]] std::string plain_word(std::string_view segment);

/// Meaning of a word in any position.
enum class PartWord {
  none,
  query,
  key,
  value,
  qkv,              ///< fused queries, keys and values, rows of queries first
  attention,        ///< module of the attention
  other_attention,  ///< attention to another text
  mlp,              ///< module of the MLP's layers
  mask
};
[[nodiscard]] PartWord part_word(std::string_view word);

/// Word for cross-attention in PyTorch's decoder, where "self_attn" is the other attention.
inline constexpr std::string_view kTorchCross = "multiheadattn";

/// Number of a norm in its block, from 1 on, including a decoder's third; 0 if the word does not
/// tell.
[[nodiscard]] int norm_number(std::string_view word);
[[nodiscard]] bool says_norm(std::string_view word);

/// Layer of an MLP: 1 or 2; 3 for the gate; 0 if the word does not tell.
[[nodiscard]] int mlp_number(std::string_view word);

/// Part of a block that a name means.
enum class BlockPart { none, query, key, value, qkv, mask, norm, out, mlp };

/// Name of a tensor within its block, by its words.
struct BlockName {
  std::string last;                ///< last word that is not a number
  PartWord word = PartWord::none;  ///< meaning of `last`
  BlockPart part = BlockPart::none;
  bool attention = false, mlp = false;  ///< the tensor is in a module that says so
  bool cross = false;                   ///< a word means attention to another text
};

/// Reads the plain words of a module in a block. `decoder`: the block has a second attention, to
/// another text.
[[nodiscard]] BlockName read_block_name(const std::vector<std::string>& words,
                                        bool decoder = false);

/// Parts outside the blocks.
enum class OuterWord { none, tokens, positions, class_token, patch, input, head };
/// Part that a whole name means. `name` consists of plain words with dots between them.
[[nodiscard]] OuterWord outer_word(std::string_view name);
/// True if a norm's name says that it is the last norm: "ln_f", "norm".
[[nodiscard]] bool says_final(std::string_view word);

}  // namespace attnscope
