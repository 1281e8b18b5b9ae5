#include "tests/support/eigen_decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace attnscope {

EigenSvd svd_by_eigen(const Eigen::MatrixXd& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.matrixV(), svd.singularValues()};
}

Eigen::VectorXd eigenvalues_by_eigen(const Eigen::MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

Eigen::VectorXd tridiagonal_eigenvalues_by_eigen(const std::vector<double>& diagonal,
                                                 const std::vector<double>& beside) {
  using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const auto precise = [](const std::vector<double>& values) {
    return Vector(
        Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values)).cast<long double>());
  };
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  solver.computeFromTridiagonal(precise(diagonal), precise(beside), Eigen::EigenvaluesOnly);
  return solver.eigenvalues().cast<double>();
}

MatrixD orthogonal_factor_by_eigen(const MatrixD& matrix) {
  return Eigen::HouseholderQR<MatrixD>(matrix).householderQ();
}

}  // namespace attnscope
