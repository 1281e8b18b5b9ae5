#include "analysis/heads/attention_chain.h"

#include <Spectra/GenEigsSolver.h>
#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

constexpr double kUnknownEigenvalue = std::numeric_limits<double>::quiet_NaN();
constexpr Eigen::Index kFewTokens = 256;   // all eigenvalues take less time up to here
constexpr Eigen::Index kMostDense = 1024;  // tokens above which LAPACK would take minutes
constexpr double kTeleport = 0.99;         // α of TokenRank

/// x ↦ (I − 11ᵀ/N) A x, whose eigenvalues are those of A, with 1 replaced by 0: A 1 = 1.
class CentredMap {
 public:
  using Scalar = double;
  explicit CentredMap(const MatrixD& map) : map_(map) {}

  [[nodiscard]] Eigen::Index rows() const { return map_.rows(); }
  [[nodiscard]] Eigen::Index cols() const { return map_.cols(); }
  void perform_op(const double* from, double* to) const {
    const auto n = static_cast<int>(rows());
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, map_.data(), n, from, 1, 0, to, 1);
    Eigen::Map<Eigen::ArrayXd> image(to, rows());
    image -= image.mean();
  }

 private:
  const MatrixD& map_;
};

/// The greatest modulus of the eigenvalues of the operator; NaN if it did not converge, as where
/// many are about as great.
double greatest_modulus(const CentredMap& centred) {
  constexpr int kValues = 2, kBasis = 40, kMostRestarts = 30;
  try {
    Spectra::GenEigsSolver solver(centred, kValues, kBasis);
    solver.init();
    if (solver.compute(Spectra::SortRule::LargestMagn, kMostRestarts, 1e-10) < kValues) {
      return kUnknownEigenvalue;
    }
    return solver.eigenvalues().cwiseAbs().maxCoeff();
  } catch (const std::runtime_error&) {  // a small matrix did not converge
    return kUnknownEigenvalue;
  }
}

double second_of(std::vector<double> moduli) {
  std::ranges::nth_element(moduli, moduli.begin() + 1, std::greater<>());
  return moduli[1];
}

}  // namespace

double second_eigenvalue(const MatrixD& map, bool causal) {
  const Eigen::Index n = map.rows();
  if (n < 2) return kUnknownEigenvalue;
  if (causal) {
    const Eigen::VectorXd diagonal = map.diagonal().cwiseAbs();
    return second_of({diagonal.begin(), diagonal.end()});
  }
  use_one_blas_thread();
  if (n > kFewTokens) {
    const MatrixD difference = map.rowwise() - map.colwise().mean();
    if (difference.norm() <= 1e-12 * map.norm()) return 0;  // rows are equal, to rounding
    const double found = greatest_modulus(CentredMap(map));
    if (!std::isnan(found) || n > kMostDense) return found;
  }
  std::vector<double> moduli;
  for (const std::complex<double>& value : eigenvalues_of(map)) moduli.push_back(std::abs(value));
  return second_of(std::move(moduli));
}

Eigen::VectorXd token_rank(const MatrixD& map) {
  const Eigen::Index n = map.rows();
  // π = απA + (1 − α)/N 1ᵀ, as the shares sum to 1.
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n) - kTeleport * map.transpose();
  return solution_of(system,
                     Eigen::VectorXd::Constant(n, (1 - kTeleport) / static_cast<double>(n)));
}

double mean_log_diagonal(const MatrixD& map) { return map.diagonal().array().log().mean(); }

double greatest_laplacian_eigenvalue(const MatrixD& map) {
  double greatest = -std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    const double degree = map.col(i).sum() / static_cast<double>(map.rows() - i);
    greatest = std::max(greatest, degree - map(i, i));
  }
  return greatest;
}

}  // namespace attnscope
