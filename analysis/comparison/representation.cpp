#include "analysis/comparison/representation.h"

#include <cmath>
#include <limits>

#include "core/error.h"

namespace attnscope {

namespace {

MatrixD centred(const ConstMatrixMap& tokens) {
  MatrixD matrix = tokens.cast<double>();
  matrix.rowwise() -= matrix.colwise().mean().eval();
  return matrix;
}

}  // namespace

double linear_cka(const ConstMatrixMap& tokens, const ConstMatrixMap& reference) {
  if (tokens.rows() != reference.rows()) {
    throw Error(ErrorKind::usage, "representations of different tokens cannot be compared")
        .expected(std::to_string(reference.rows()) + " tokens as the reference")
        .found(std::to_string(tokens.rows()));
  }
  const MatrixD x = centred(tokens), y = centred(reference);
  double cross = 0, own = 0, other = 0;
  if (x.rows() < x.cols() || x.rows() < y.cols()) {
    // ‖YᵀX‖² = ⟨XXᵀ, YYᵀ⟩: the smaller matrices if there are fewer tokens than features.
    const MatrixD k = x * x.transpose(), l = y * y.transpose();
    cross = (k.array() * l.array()).sum();
    own = k.norm();
    other = l.norm();
  } else {
    cross = (y.transpose() * x).squaredNorm();
    own = (x.transpose() * x).norm();
    other = (y.transpose() * y).norm();
  }
  // The negated comparison also catches NaN.
  if (!(own > 0 && other > 0) || !std::isfinite(own) || !std::isfinite(other)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return cross / (own * other);
}

}  // namespace attnscope
