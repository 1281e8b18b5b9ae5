// What a pyramid's tensors say of its stages.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// As deduce_architecture, for the family pyramid: widths, depths, kernels, reductions and MLPs
/// from the shapes; heads from hash buffers, else 32 or 64 channels each (`head_width` sets it);
/// strides and windows assumed (`stages` sets them all).
[[nodiscard]] Architecture deduce_pyramid(const DeductionInput& input);

}  // namespace attnscope
