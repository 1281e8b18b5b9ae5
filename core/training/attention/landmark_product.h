// Products of narrow matrices with values, with their gradient: the part that Nyströmformer and
// SOFT share.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// A map A Z B of one head, with k landmarks.
struct LandmarkMap {
  MatrixD left;     ///< A, [N, k]
  MatrixD inverse;  ///< Z, [k, k]
  MatrixD right;    ///< B, [k, M]

  /// A Z B V.
  [[nodiscard]] MatrixD times(const MatrixD& values) const {
    return left * (inverse * (right * values));
  }
};

/// Gradients of the factors and of the values of A Z B V, given that of the product.
struct LandmarkGradients {
  LandmarkGradients(const LandmarkMap& map, const MatrixD& values, const MatrixD& d_output) {
    const MatrixD gathered = map.right * values;
    const MatrixD passed = map.left.transpose() * d_output;
    const MatrixD d_gathered = map.inverse.transpose() * passed;
    left = d_output * (map.inverse * gathered).transpose();
    inverse = passed * gathered.transpose();
    right = d_gathered * values.transpose();
    this->values = map.right.transpose() * d_gathered;
  }

  MatrixD left, inverse, right, values;
};

}  // namespace attnscope
