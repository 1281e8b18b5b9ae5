#include "analysis/features/principal_plane.h"

#include <cmath>

#include "core/error.h"
#include "core/tensor/decompose.h"

namespace attnscope {

PrincipalPlane principal_plane(const Tensor& points) {
  PrincipalPlane plane;
  if (points.empty()) return plane;
  const ConstMatrixMap given = points.matrix();
  if (!given.allFinite()) {
    throw Error(ErrorKind::damaged, "the values must be finite").about("features");
  }
  Eigen::MatrixXd centred = given.cast<double>();
  centred.rowwise() -= centred.colwise().mean().eval();
  const Eigen::Index rows = centred.rows(), width = centred.cols();
  // Both products have the same leading eigenvalues: the smaller one is decomposed.
  const bool of_columns = width <= rows;
  const Eigen::MatrixXd product = of_columns ? Eigen::MatrixXd(centred.transpose() * centred)
                                             : Eigen::MatrixXd(centred * centred.transpose());
  const Eigenpairs pairs = symmetric_eigenpairs(product);
  const double total = std::max(product.trace(), 0.0);
  const Eigen::Index size = product.rows();
  plane.x.assign(static_cast<std::size_t>(rows), 0);
  plane.y.assign(static_cast<std::size_t>(rows), 0);
  for (Eigen::Index component = 0; component < 2; ++component) {
    Eigen::VectorXd axis = Eigen::VectorXd::Zero(width);
    if (component < size && total > 0) {
      const Eigen::Index place = size - 1 - component;  // eigenvalues are in ascending order
      const double value = std::max(pairs.values(place), 0.0);
      axis = of_columns ? Eigen::VectorXd(pairs.vectors.col(place))
                        : Eigen::VectorXd(centred.transpose() * pairs.vectors.col(place));
      // Directions without variance come only from rounding.
      if (value <= total * 1e-14) axis.setZero();
      if (const double length = axis.norm(); length > 0) axis /= length;
      Eigen::Index greatest = 0;
      if (width > 0) axis.cwiseAbs().maxCoeff(&greatest);
      if (width > 0 && axis(greatest) < 0) axis = -axis;
      plane.share[static_cast<std::size_t>(component)] = value / total;
    }
    const Eigen::VectorXd place = centred * axis;
    (component == 0 ? plane.x : plane.y).assign(place.begin(), place.end());
    (component == 0 ? plane.first_axis : plane.second_axis).assign(axis.begin(), axis.end());
  }
  return plane;
}

}  // namespace attnscope
