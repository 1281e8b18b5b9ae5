// Parts of a model that matches no family, by words and shapes: stacks of blocks with the roles of
// the tensors in them, and the tensors around the blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/unknown_models/name_words.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Result of reading the names of one stack of blocks.
struct BlockNames {
  std::string container;     ///< prefix of block names before the number: "blocks."
  std::int64_t layers = 0;   ///< 0: no blocks with an attention
  std::int64_t width = 0;    ///< D, width of a token
  std::int64_t inner = 0;    ///< H·d, number of query rows
  std::int64_t heads = 0;    ///< number of per-head tensors; 0: the file does not separate heads
  bool of_torch = false;     ///< true for nn.MultiheadAttention, whose scores are scaled by 1/√d
  bool biased_norms = true;  ///< true if all norms have biases
  std::map<std::string, std::string> roles;  ///< "layer.query.weight" → its pattern
  std::string final_norm;   ///< "encoder.6", if numbered like a block after the last one
  std::string mask;         ///< stored mask of the first block; empty: none
  std::string unexplained;  ///< first tensor whose name has no known meaning; empty: none
  std::string why = "its name does not say what it is";

  [[nodiscard]] bool has(const std::string& role) const { return roles.contains(role); }
};

/// Stack of blocks, and optionally a decoder's stack that also attends to it: roles "decoder.",
/// "cross.".
struct StackNames {
  BlockNames body;
  std::optional<BlockNames> decoder;
};

/// Finds the stacks. A stack that is neither is reported in `body.unexplained`.
[[nodiscard]] StackNames read_stack_names(const std::vector<const StoredTensor*>& tensors);

/// Layer, table or norm outside the blocks.
struct OuterModule {
  std::string name;  ///< name with its last dot; the whole name for a single parameter
  const StoredTensor *weight = nullptr, *bias = nullptr;
  OuterWord word = OuterWord::none;
  bool after_blocks = false;  ///< true if it follows the blocks in the file
};

struct OuterNames {
  std::map<std::string, std::string> roles;  ///< "token_embedding.weight" → its tensor
  std::vector<OuterModule> heads;            ///< heads in the order of the file
  std::string mask;                          ///< a stored mask; empty: none
  std::string unexplained;  ///< first tensor whose name has no known meaning; empty: none
};

/// Prefix around a stack: "encoder." for "encoder.layers.".
[[nodiscard]] std::string wrapper_of(const std::string& container);

/// True if the name belongs to a block of that stack, not to the norm after the blocks.
[[nodiscard]] bool is_of_block(const std::string& name, const BlockNames& blocks);

[[nodiscard]] OuterNames read_outer_names(const std::vector<const StoredTensor*>& tensors,
                                          const StackNames& stacks);

}  // namespace attnscope
