// Weights of tokens and landmarks in double: errors of the landmarks' own weights are as much
// larger in the map as the inverse of these is (Nyströmformer, SOFT).
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// softmax(scale · a bᵀ) by rows, for rows a [N, d] and b [M, d].
[[nodiscard]] MatrixD softmax_weights(const MatrixD& a, const MatrixD& b, double scale);

/// exp(−½‖a_i − b_j‖²) for rows a [N, d] and b [M, d].
[[nodiscard]] MatrixD gaussian_weights(const MatrixD& a, const MatrixD& b);

}  // namespace attnscope
