// Tensors around the blocks of a model that matches no family: embeddings, the last norm, heads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/architecture/naming/name_words.h"
#include "core/architecture/naming/stack_names.h"

namespace attnscope {

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
