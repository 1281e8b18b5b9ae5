#include "core/attention/landmark_weights.h"

#include "core/attention/kernels/exponentials.h"
#include "core/tensor/blas.h"

namespace attnscope {

MatrixD softmax_weights(const MatrixD& a, const MatrixD& b, double scale) {
  MatrixD weights = scale * dense_product_transposed(a, b);
  for (Eigen::Index i = 0; i < weights.rows(); ++i) {
    weights.row(i).array() -= weights.row(i).maxCoeff();
    exponentiate(weights.row(i).data(), weights.cols());
    weights.row(i) /= weights.row(i).sum();
  }
  return weights;
}

MatrixD gaussian_weights(const MatrixD& a, const MatrixD& b) {
  MatrixD exponents = dense_product_transposed(a, b);
  exponents.colwise() -= 0.5 * a.rowwise().squaredNorm();
  exponents.rowwise() -= 0.5 * b.rowwise().squaredNorm().transpose();
  exponentiate(exponents.data(), exponents.size());
  return exponents;
}

}  // namespace attnscope
