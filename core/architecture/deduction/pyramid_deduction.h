// What a pyramid's tensors say of its stages.
#pragma once

#include "core/architecture/description/architecture_match.h"

namespace attnscope {

/// As deduce_architecture, for the family pyramid: widths, depths, kernels, reductions and MLPs
/// from the shapes; heads from hash buffers, else 32 or 64 channels each (`head_width` sets it);
/// strides and windows assumed (`stages` sets them all).
[[nodiscard]] Architecture deduce_pyramid(const ArchitectureMatch& match,
                                          const Checkpoint& checkpoint,
                                          const ModelOptions& options);

}  // namespace attnscope
