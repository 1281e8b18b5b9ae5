// Deduces the stages of a pyramid from its tensors.
#pragma once

#include "core/architecture/deduction/family_deduction.h"

namespace attnscope {

/// Like deduce_architecture, for pyramids. Widths, depths, kernels, reductions and MLPs follow from
/// the shapes; heads from hash buffers or relative position tables, otherwise from `head_width` or
/// an assumption; strides and windows are assumed (`stages` sets them all).
[[nodiscard]] Architecture deduce_pyramid(const DeductionInput& input);

}  // namespace attnscope
