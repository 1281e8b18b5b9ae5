// Maps in files that are not trace files: arrays written by NumPy or torch.save, such as
// `np.savez("maps.npz", *attentions)` or `torch.save(outputs.attentions, "maps.pt")`.
#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// The maps of one layer in a file: a whole array [H, N, M], or one slice of [L, H, N, M]. Leading
/// batch axes of size 1 are allowed.
struct StoredMaps {
  const StoredTensor* array = nullptr;
  std::int64_t slice = -1;  ///< index along the first axis after the batch axes, or -1

  /// The maps as [H, N, M]. Throws the errors of StoredTensor::view.
  [[nodiscard]] TensorView view() const;
};

/// The layers stored in the arrays of `file`: one array [L, H, N, M], or one [H, N, M] per layer in
/// the order of the numbers in their names. Empty unless *all* arrays are non-empty, floating-point
/// and of such a shape, with at most 4096 layers. Also empty if an array has a usual parameter
/// name, such as "conv1.weight".
[[nodiscard]] std::vector<StoredMaps> maps_in_arrays(const Checkpoint& file);

}  // namespace attnscope
