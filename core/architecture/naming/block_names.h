// The blocks of a model that no family names: which tensor is what, by words and shapes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// What the names of one stack of blocks say.
struct BlockNames {
  std::string container;     ///< "blocks.": names of blocks begin so, then comes the number
  std::int64_t layers = 0;   ///< 0: there are no blocks with an attention
  std::int64_t width = 0;    ///< D
  std::int64_t inner = 0;    ///< H·d
  std::int64_t heads = 0;    ///< of one tensor a head; 0: the file does not tell them apart
  bool of_torch = false;     ///< nn.MultiheadAttention, whose scores are scaled by 1/√d
  bool biased_norms = true;  ///< all norms have biases
  std::map<std::string, std::string> roles;  ///< "layer.query.weight" → its pattern
  std::string final_norm;                    ///< "encoder.6", where it stands after the blocks
  std::string mask;                          ///< the first block's stored mask; empty: none
  std::string unexplained;  ///< the first tensor whose name does not say what it is; empty: none
  std::string why = "its name does not say what it is";

  [[nodiscard]] bool has(const std::string& role) const { return roles.contains(role); }
};

using Block = std::map<std::string, Shape>;  ///< tensors by their names within it

/// Adds the roles of the first block to `names`, of which container and layers are known; a
/// decoder's blocks have a second attention, to another text: roles "decoder." and "cross.".
void read_first_block(const Block& block, bool decoder, BlockNames& names);

}  // namespace attnscope
