#include "analysis/spectrum/leading_values.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/attention/random_parameters.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

// Number of directions added per step, which share two passes over the map, and the maximum number
// of steps. Estimates leave slowly converging values to the rest.
constexpr Eigen::Index kBlock = 8, kEstimateBlock = 16;
constexpr int kMostSteps = 80, kMostEstimateSteps = 8;
// Tolerance of ‖HᵀH v − σ² v‖ relative to σ_1².
constexpr double kTolerance = 1e-10, kEstimateTolerance = 1e-6;
constexpr double kIndependent = 1e-10;  // least share of a direction outside the subspace

/// Subspace of the map's columns, its image under HᵀH, and the Ritz pairs within it.
class Subspace {
 public:
  Subspace(const MapOperator& map, Eigen::Index wanted, LeadingAccuracy accuracy)
      : map_(map),
        wanted_(wanted),
        is_rough_(accuracy == LeadingAccuracy::estimate),
        // Capacity for as many directions again as a restart keeps.
        most_(std::min<Eigen::Index>(map.columns(), 3 * wanted + 4 * block())),
        basis_(map.columns(), 0),
        images_(map.columns(), 0) {}

  [[nodiscard]] Eigen::Index size() const { return basis_.cols(); }
  [[nodiscard]] bool is_whole() const { return size() == map_.columns(); }
  /// Number of directions to add per step.
  [[nodiscard]] Eigen::Index block() const { return is_rough_ ? kEstimateBlock : kBlock; }

  /// Adds the components of `directions` outside the subspace.
  void add(const Eigen::MatrixXd& directions) {
    if (size() + directions.cols() > most_ && most_ < map_.columns()) restart();
    Eigen::MatrixXd added(map_.columns(), 0);
    for (Eigen::Index i = 0; i < directions.cols() && size() + added.cols() < most_; ++i) {
      Eigen::VectorXd x = directions.col(i).normalized();
      if (!x.allFinite()) continue;
      for (int pass = 0; pass < 2; ++pass) {  // twice, for orthogonality to rounding
        x -= basis_ * (basis_.transpose() * x);
        x -= added * (added.transpose() * x);
        if (pass == 0 && x.norm() < kIndependent) break;
        x.normalize();
      }
      if (!(std::abs(x.norm() - 1) < 0.5)) continue;
      added.conservativeResize(Eigen::NoChange, added.cols() + 1);
      added.rightCols(1) = x;
    }
    if (added.cols() == 0) return;
    const Eigen::MatrixXd image = is_rough_
                                      ? map_.times_transposed_roughly(map_.times_roughly(added))
                                      : map_.times_transposed(map_.times(added));
    append(basis_, added);
    append(images_, image);
    solve();
  }

  /// Residuals of the wanted pairs above the tolerance, greatest values first, at most one block.
  [[nodiscard]] Eigen::MatrixXd residuals() const {
    Eigen::MatrixXd left(map_.columns(), 0);
    for (Eigen::Index i = 0; i < std::min(wanted_, size()) && left.cols() < block(); ++i) {
      if (!is_converged(i)) append(left, residual(i));
    }
    return left;
  }

  /// Converged pairs from the greatest one to the first gap.
  [[nodiscard]] LeadingValues leading() const {
    Eigen::Index count = 0;
    while (count < std::min(wanted_, size()) && is_converged(count)) ++count;
    const Eigen::MatrixXd vectors = basis_ * ritz_.leftCols(count);
    // ‖H v‖ is more accurate than the root of the Ritz value, in which small values would be lost
    // to the rounding of σ_1².
    const Eigen::RowVectorXd norms = map_.times(vectors).colwise().norm();
    std::vector<Eigen::Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Eigen::Index a, Eigen::Index b) { return norms(a) > norms(b); });
    LeadingValues leading;
    leading.right.resize(map_.columns(), count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Eigen::Index from = order[static_cast<std::size_t>(i)];
      leading.values.push_back(norms(from));
      leading.right.col(i) = vectors.col(from);
    }
    return leading;
  }

 private:
  [[nodiscard]] Eigen::Index kept() const { return wanted_ + block(); }

  static void append(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& columns) {
    matrix.conservativeResize(Eigen::NoChange, matrix.cols() + columns.cols());
    matrix.rightCols(columns.cols()) = columns;
  }

  [[nodiscard]] Eigen::VectorXd residual(Eigen::Index i) const {
    return images_ * ritz_.col(i) - squares_(i) * (basis_ * ritz_.col(i));
  }

  [[nodiscard]] bool is_converged(Eigen::Index i) const {
    return residual_norms_(i) <= (is_rough_ ? kEstimateTolerance : kTolerance) * squares_(0);
  }

  /// Computes the Ritz pairs of HᵀH in the subspace, greatest first, and residuals of the wanted
  /// ones.
  void solve() {
    const Eigen::MatrixXd within = basis_.transpose() * images_;
    const Eigenpairs pairs = symmetric_eigenpairs(0.5 * (within + within.transpose()));
    ritz_ = pairs.vectors.rowwise().reverse();
    squares_ = pairs.values.reverse();
    const Eigen::Index count = std::min(wanted_, size());
    const Eigen::MatrixXd residuals =
        images_ * ritz_.leftCols(count) -
        (basis_ * ritz_.leftCols(count)) * squares_.head(count).asDiagonal();
    residual_norms_ = residuals.colwise().norm();
  }

  /// Keeps only the best pairs.
  void restart() {
    const Eigen::MatrixXd best = ritz_.leftCols(kept());
    basis_ = (basis_ * best).eval();
    images_ = (images_ * best).eval();
  }

  const MapOperator& map_;
  Eigen::Index wanted_;
  bool is_rough_;
  Eigen::Index most_;
  Eigen::MatrixXd basis_, images_;  ///< [columns, size]; images_ = HᵀH basis_
  Eigen::MatrixXd ritz_;            ///< [size, size]
  Eigen::VectorXd squares_, residual_norms_;
};

}  // namespace

LeadingValues leading_values(const MapOperator& map, Eigen::Index wanted,
                             LeadingAccuracy accuracy) {
  wanted = std::min<Eigen::Index>(wanted, map.columns());
  if (wanted < 1) return {};
  NormalNumbers normal(7);
  Subspace subspace(map, wanted, accuracy);
  // A converged subspace misses directions that it never contained, such as copies of a repeated
  // value: it is complete only once random directions do not change it.
  bool checked = false;
  const int most_steps = accuracy == LeadingAccuracy::estimate ? kMostEstimateSteps : kMostSteps;
  for (int step = 0; step < most_steps; ++step) {
    if (subspace.is_whole()) break;
    const Eigen::MatrixXd residuals =
        subspace.size() == 0 ? Eigen::MatrixXd() : subspace.residuals();
    if (residuals.cols() > 0) {
      subspace.add(residuals);
      checked = false;
      continue;
    }
    if (checked && subspace.size() >= wanted) break;
    checked = true;
    subspace.add(normal.matrix(map.columns(), subspace.block()));
  }
  return subspace.leading();
}

}  // namespace attnscope
