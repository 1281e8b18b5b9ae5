// Reader of tensor elements written by pickle.dump: a legacy torch.save file inside a pickle.
#pragma once

#include <cstddef>
#include <span>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

/// The single storage held by `node`, with its file offset. `bytes` are the file's bytes from
/// `start` on, and `node` is a node of kind bytes among them. Throws Error(damaged, unsupported).
[[nodiscard]] PickledTensor read_saved_storage(std::span<const std::byte> bytes, std::size_t start,
                                               const PickleNode& node);

}  // namespace attnscope
