// A tensor's elements as pickle.dump writes them: a legacy file of torch.save, within a pickle.
#pragma once

#include <cstddef>
#include <span>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

/// `bytes` are of the file from `start` on, and `node` is a node of bytes among them. The one
/// storage they hold, with its place in the file. Throws Error(damaged, unsupported).
[[nodiscard]] PickledTensor read_saved_storage(std::span<const std::byte> bytes, std::size_t start,
                                               const PickleNode& node);

}  // namespace attnscope
