#include "analysis/spectrum/map_operator.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <tbb/parallel_for.h>
#include <vector>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Rows taken to double at a time: with a few thousand columns they stay in the L2 cache.
constexpr Eigen::Index kBlock = 32;
// Stripes of rows that are summed apart: the same for any number of threads.
constexpr Eigen::Index kStripes = 16;

}  // namespace

MapOperator::MapOperator(const ConstMatrixMap& map, double shift)
    : map_(map), shift_(shift), flipped_(map.cols() > map.rows()) {
  use_one_blas_thread();
}

MatrixD MapOperator::times(const MatrixD& x) const { return flipped_ ? by_columns(x) : by_rows(x); }

MatrixD MapOperator::times_transposed(const MatrixD& y) const {
  return flipped_ ? by_rows(y) : by_columns(y);
}

MatrixD MapOperator::by_rows(const MatrixD& x) const {
  MatrixD product(map_.rows(), x.cols());
  const Eigen::Index blocks = (map_.rows() + kBlock - 1) / kBlock;
  tbb::parallel_for(Eigen::Index{0}, blocks, [&](Eigen::Index block) {
    const Eigen::Index first = block * kBlock, rows = std::min(kBlock, map_.rows() - first);
    const MatrixD entries = map_.middleRows(first, rows).cast<double>();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(rows),
                static_cast<blasint>(x.cols()), static_cast<blasint>(x.rows()), 1.0, entries.data(),
                static_cast<blasint>(entries.cols()), x.data(), static_cast<blasint>(x.cols()), 0.0,
                product.data() + first * x.cols(), static_cast<blasint>(x.cols()));
  });
  if (shift_ != 0) product += shift_ * x;
  return product;
}

MatrixD MapOperator::by_columns(const MatrixD& y) const {
  std::vector<MatrixD> sums(kStripes);
  const Eigen::Index stripe_rows = (map_.rows() + kStripes - 1) / kStripes;
  tbb::parallel_for(Eigen::Index{0}, kStripes, [&](Eigen::Index stripe) {
    MatrixD& sum = sums[static_cast<std::size_t>(stripe)];
    sum = MatrixD::Zero(map_.cols(), y.cols());
    const Eigen::Index end = std::min((stripe + 1) * stripe_rows, map_.rows());
    for (Eigen::Index first = stripe * stripe_rows; first < end; first += kBlock) {
      const Eigen::Index rows = std::min(kBlock, end - first);
      const MatrixD entries = map_.middleRows(first, rows).cast<double>();
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<blasint>(map_.cols()),
                  static_cast<blasint>(y.cols()), static_cast<blasint>(rows), 1.0, entries.data(),
                  static_cast<blasint>(entries.cols()), y.data() + first * y.cols(),
                  static_cast<blasint>(y.cols()), 1.0, sum.data(), static_cast<blasint>(y.cols()));
    }
  });
  MatrixD product = std::move(sums.front());
  for (std::size_t stripe = 1; stripe < sums.size(); ++stripe) product += sums[stripe];
  if (shift_ != 0) product += shift_ * y;
  return product;
}

MapOperator::Facts MapOperator::facts() const {
  Facts facts;
  const bool square = map_.rows() == map_.cols();
  double differences = 0;
  for (Eigen::Index i = 0; i < map_.rows(); ++i) {
    facts.not_finite_entries += map_.cols() - map_.row(i).array().isFinite().count();
    double row = map_.row(i).cast<double>().squaredNorm();
    if (shift_ != 0) {
      const auto own = static_cast<double>(map_(i, i));
      row += (own + shift_) * (own + shift_) - own * own;
    }
    // Rounding may leave a trace of what was taken away.
    if ((map_.row(i).array() == 0).count() >= map_.cols() - (shift_ != 0 ? 1 : 0) && !(row > 0)) {
      ++facts.zero_rows;
    }
    facts.squares += row;
    for (Eigen::Index j = 0; square && j < i; ++j) {
      const double difference = static_cast<double>(map_(i, j)) - static_cast<double>(map_(j, i));
      differences += 2 * difference * difference;
    }
  }
  facts.asymmetry = std::sqrt(differences);
  return facts;
}

}  // namespace attnscope
