// What stands around the blocks of a model that no family names: embeddings, the last norm, heads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/architecture/naming/name_words.h"
#include "core/architecture/naming/stack_names.h"

namespace attnscope {

/// A layer, a table or a norm outside the blocks.
struct OuterModule {
  std::string name;  ///< with its last dot; of a parameter alone the whole name
  const StoredTensor *weight = nullptr, *bias = nullptr;
  OuterWord word = OuterWord::none;
  bool after_blocks = false;  ///< in the file
};

struct OuterNames {
  std::map<std::string, std::string> roles;  ///< "token_embedding.weight" → its tensor
  std::vector<OuterModule> heads;            ///< in the order of the file
  std::string mask;                          ///< a stored mask; empty: none
  std::string unexplained;  ///< the first tensor whose name does not say what it is; empty: none
};

/// "encoder." of "encoder.layers.": what wraps a stack.
[[nodiscard]] std::string wrapper_of(const std::string& container);

/// Whether the name is of a block of that stack, and not of the norm behind them.
[[nodiscard]] bool is_of_block(const std::string& name, const BlockNames& blocks);

[[nodiscard]] OuterNames read_outer_names(const std::vector<const StoredTensor*>& tensors,
                                          const StackNames& stacks);

}  // namespace attnscope
