// Roles of the tensors in the blocks of a model that matches no family, by words and shapes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

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

using Block = std::map<std::string, Shape>;  ///< shapes by tensor name within the block

/// Adds the roles of the first block to `names`, whose container and layers are set. A decoder's
/// blocks have a second attention, to another text: roles "decoder." and "cross.".
void read_first_block(const Block& block, bool decoder, BlockNames& names);

}  // namespace attnscope
