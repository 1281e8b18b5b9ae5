// Refines a network from coarse to finer patches, with several tokens in place of one.
#pragma once

#include <vector>

#include "core/training/network.h"

namespace attnscope {

/// Converts the values of `coarse` to initial values of `fine`, a network whose patches have a k-th
/// of the side. The patch embedding is summed over k×k pixels, so that it maps a fine patch as the
/// coarse one maps that patch enlarged. Tensors with a row per token of the grid (positions, DAFT's
/// pe0 and pe1) and DAFT's windows r are interpolated bicubically; rows of class tokens and all
/// other tensors are copied. Throws Error(unsupported), naming the tensor, if its shape depends on
/// the number of tokens in another way.
[[nodiscard]] std::vector<float> refined_values(const TrainedNetwork& coarse,
                                                const std::vector<float>& values,
                                                const TrainedNetwork& fine);

}  // namespace attnscope
