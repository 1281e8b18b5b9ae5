// Symmetry and directionality of W_QK (Saponati et al. 2025, "The underlying structures of
// self-attention: symmetry, directionality, and emergent dynamics in Transformer training").
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

struct ProductSymmetry {
  /// ‖(M + Mᵀ)/2‖² / ‖M‖² = (1 + tr(MM)/‖M‖²) / 2: 1 for a symmetric M, about 1/2 for a random one,
  /// 0 for an antisymmetric one. NaN if M is 0.
  double symmetry = 0;
  /// (C − R) / (C + R), from −1 to 1: R is the sum of what the norms of the rows exceed their mean
  /// by beyond two standard deviations, C that of the columns; 0 if none does.
  double directionality = 0;
};

/// The two numbers of M = left · right, for left [D, d] and right [d, D], from products of d
/// columns only. NaN if M is not square or not finite.
[[nodiscard]] ProductSymmetry product_symmetry(const MatrixD& left, const MatrixD& right);

/// The same of a matrix M.
[[nodiscard]] ProductSymmetry product_symmetry(const MatrixD& product);

}  // namespace attnscope
