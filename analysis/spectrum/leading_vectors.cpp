#include "analysis/spectrum/leading_vectors.h"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <stdexcept>
#include <tbb/parallel_for.h>

#include "core/attention/random_parameters.h"
#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

// LAPACK takes less time if more than one vector in twelve is wanted.
constexpr Eigen::Index kFew = 12;
// Stripes of rows have separate sums. Their number does not depend on the number of threads.
constexpr Eigen::Index kMostStripes = 16, kStripeEntries = 65536;
constexpr Eigen::Index kBandEntries = 32768;  // entries that stay in the cache for two products
// Spectra begins with an image under the operator and, in version 1.0, does not orthogonalise the
// next vector to it. An image of a collapsed map would be an eigenvector, and the next one only
// rounding errors, unless the operator contained a part of I.
constexpr double kShift = 0.01;

/// x ↦ P AᵀA P x / ‖A‖²_F + kShift x, where P removes the found vectors. It reads A once.
class GramOperator {
 public:
  using Scalar = double;

  GramOperator(const MatrixD& tall, double squares) : tall_(tall), scale_(1 / squares) {}

  void leave_out(const Eigen::MatrixXd& found) { found_ = found; }

  [[nodiscard]] Eigen::Index rows() const { return tall_.cols(); }
  [[nodiscard]] Eigen::Index cols() const { return tall_.cols(); }

  void perform_op(const double* from, double* to) const {
    const Eigen::Map<const Eigen::VectorXd> given(from, cols());
    const Eigen::VectorXd x = without_found(given);
    const Eigen::Index stripes =
        std::clamp<Eigen::Index>(tall_.size() / kStripeEntries, 1, kMostStripes);
    const Eigen::Index stripe_rows = (tall_.rows() + stripes - 1) / stripes;
    const Eigen::Index band_rows = std::max<Eigen::Index>(kBandEntries / cols(), 8);
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(cols(), stripes);
    tbb::parallel_for(Eigen::Index{0}, stripes, [&](Eigen::Index stripe) {
      const Eigen::Index end = std::min((stripe + 1) * stripe_rows, tall_.rows());
      for (Eigen::Index row = stripe * stripe_rows; row < end; row += band_rows) {
        add_band(row, std::min(band_rows, end - row), x, sums.col(stripe).data());
      }
    });
    Eigen::Map<Eigen::VectorXd>(to, cols()) =
        scale_ * without_found(sums.rowwise().sum()) + kShift * given;
  }

 private:
  [[nodiscard]] Eigen::VectorXd without_found(const Eigen::VectorXd& x) const {
    if (found_.cols() == 0) return x;
    return x - found_ * (found_.transpose() * x);
  }

  /// sum += BᵀB x, where B has `count` rows of A.
  void add_band(Eigen::Index first, Eigen::Index count, const Eigen::VectorXd& x,
                double* sum) const {
    const auto rows = static_cast<int>(count), columns = static_cast<int>(cols());
    const double* const band = tall_.data() + first * cols();
    Eigen::VectorXd product(count);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, columns, 1, band, columns, x.data(), 1, 0,
                product.data(), 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, columns, 1, band, columns, product.data(), 1, 1,
                sum, 1);
  }

  const MatrixD& tall_;
  double scale_;
  Eigen::MatrixXd found_;  ///< [columns, number of found vectors]
};

/// The vectors of a matrix with at least as many rows as columns; empty if they did not converge,
/// or if a copy of a repeated value is missing among them.
Eigen::MatrixXd few_vectors(const MatrixD& tall, Eigen::Index count) {
  constexpr auto kGreatest = Spectra::SortRule::LargestAlge;
  constexpr int kMostRestarts = 300;
  const double squares = tall.squaredNorm();
  if (!std::isnormal(squares)) return {};
  GramOperator gram(tall, squares);
  try {
    Spectra::SymEigsSolver solver(gram, count, std::min(2 * count + 16, tall.cols()));
    solver.init();
    if (solver.compute(kGreatest, kMostRestarts, 1e-12) < count) return {};
    const Eigen::MatrixXd found = solver.eigenvectors();
    if (count == 1) return found;
    // Lanczos from one vector finds one direction per value; only rounding leads it to the others.
    // A missing one is the greatest that is left, and another random vector has a part of it.
    gram.leave_out(found);
    Spectra::SymEigsSolver rest(gram, 1, std::min<Eigen::Index>(12, tall.cols()));
    rest.init(NormalNumbers(7).matrix(tall.cols(), 1).data());
    if (rest.compute(kGreatest, kMostRestarts, 1e-4) < 1) return {};
    const double least = solver.eigenvalues()(count - 1), greatest_left = rest.eigenvalues()(0);
    return greatest_left <= least + 1e-12 ? found : Eigen::MatrixXd();
  } catch (const std::runtime_error&) {  // the small tridiagonal matrix did not converge
    return {};
  }
}

}  // namespace

Eigen::MatrixXd leading_vectors(const MatrixD& matrix, Eigen::Index count) {
  use_one_blas_thread();
  const bool tall = matrix.rows() >= matrix.cols();
  if (kFew * count <= std::min(matrix.rows(), matrix.cols())) {
    Eigen::MatrixXd found =
        tall ? few_vectors(matrix, count) : few_vectors(matrix.transpose(), count);
    if (found.cols() > 0) return found;
  }
  const Eigen::MatrixXd gram = tall ? Eigen::MatrixXd(matrix.transpose() * matrix)
                                    : Eigen::MatrixXd(matrix * matrix.transpose());
  return symmetric_eigenpairs(gram).vectors.rightCols(count).rowwise().reverse();
}

}  // namespace attnscope
