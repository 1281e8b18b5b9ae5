// Stacks of blocks of a model that matches no family, and the roles of the tensors in them, by
// words and shapes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace attnscope
