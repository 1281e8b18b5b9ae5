// From coarse patches to fine ones: the same network with several tokens where there was one.
#pragma once

#include <vector>

#include "core/training/network.h"

namespace attnscope {

/// The values of `coarse` as those that `fine` begins with, a network on patches whose side is the
/// k-th part. The patch embedding is summed over k×k pixels: it answers a fine patch as the coarse
/// one answers that patch enlarged. What has a row for each token of the grid (positions, DAFT's
/// pe0 and pe1) and DAFT's windows r are interpolated bicubically; rows of class tokens and all
/// else stay. Throws Error(unsupported), naming the tensor, for what has no such meaning on more
/// tokens.
[[nodiscard]] std::vector<float> refined_values(const TrainedNetwork& coarse,
                                                const std::vector<float>& values,
                                                const TrainedNetwork& fine);

}  // namespace attnscope
