// Similarity of two representations of the same tokens.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Linear centred kernel alignment ‖YᵀX‖_F² / (‖XᵀX‖_F ‖YᵀY‖_F) of X [N, D] and Y [N, E], columns
/// centred (Kornblith et al. 2019, Eq. 3). Ranges from 0 to 1, which is reached by representations
/// that differ by a rotation and a scale. Rows are the tokens of one input. NaN if a representation
/// is the same for every token or holds NaN or Inf. Throws Error(usage) if the numbers of tokens
/// differ.
[[nodiscard]] double linear_cka(const ConstMatrixMap& tokens, const ConstMatrixMap& reference);

}  // namespace attnscope
