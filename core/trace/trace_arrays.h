// Maps in files that are no trace files: arrays that NumPy or torch.save wrote, as
// `np.savez("maps.npz", *attentions)` or `torch.save(outputs.attentions, "maps.pt")`.
#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// The maps of one layer in a file: a whole array [H, N, M], or one slice of [L, H, N, M]. Axes of
/// extent 1 may stand before them (a batch of one).
struct StoredMaps {
  const StoredTensor* array = nullptr;
  std::int64_t slice = -1;  ///< along the first axis that is not of the batch; -1: the whole

  /// [H, N, M]. May throw Error, as StoredTensor::view.
  [[nodiscard]] TensorView view() const;
};

/// The layers that the arrays of `file` are: one array [L, H, N, M], or one of [H, N, M] for each
/// layer in the order of the numbers in their names. Empty unless *all* arrays of the file are
/// floating-point, of such extents, none of them 0, and at most 4096 layers; and unless one is
/// called what layers of networks call what they learnt: "conv1.weight".
[[nodiscard]] std::vector<StoredMaps> maps_in_arrays(const Checkpoint& file);

}  // namespace attnscope
