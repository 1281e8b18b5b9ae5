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
    : floats_(map.data()),
      map_rows_(map.rows()),
      map_columns_(map.cols()),
      shift_(shift),
      flipped_(map.cols() > map.rows()) {
  use_one_blas_thread();
}

MapOperator::MapOperator(const ConstMatrixDMap& map, double shift)
    : doubles_(map.data()),
      map_rows_(map.rows()),
      map_columns_(map.cols()),
      shift_(shift),
      flipped_(map.cols() > map.rows()) {
  use_one_blas_thread();
}

MatrixD MapOperator::entries(Eigen::Index first, Eigen::Index count) const {
  const Eigen::Index start = first * map_columns_;
  if (doubles_) return ConstMatrixDMap(doubles_ + start, count, map_columns_);
  return ConstMatrixMap(floats_ + start, count, map_columns_).cast<double>();
}

MatrixD MapOperator::times(const MatrixD& x) const { return flipped_ ? by_columns(x) : by_rows(x); }

MatrixD MapOperator::times_transposed(const MatrixD& y) const {
  return flipped_ ? by_rows(y) : by_columns(y);
}

MatrixD MapOperator::by_rows(const MatrixD& x) const {
  MatrixD product(map_rows_, x.cols());
  const Eigen::Index blocks = (map_rows_ + kBlock - 1) / kBlock;
  tbb::parallel_for(Eigen::Index{0}, blocks, [&](Eigen::Index block) {
    const Eigen::Index first = block * kBlock, rows = std::min(kBlock, map_rows_ - first);
    const MatrixD part = entries(first, rows);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(rows),
                static_cast<blasint>(x.cols()), static_cast<blasint>(x.rows()), 1.0, part.data(),
                static_cast<blasint>(part.cols()), x.data(), static_cast<blasint>(x.cols()), 0.0,
                product.data() + first * x.cols(), static_cast<blasint>(x.cols()));
  });
  if (shift_ != 0) product += shift_ * x;
  return product;
}

MatrixD MapOperator::by_columns(const MatrixD& y) const {
  std::vector<MatrixD> sums(kStripes);
  const Eigen::Index stripe_rows = (map_rows_ + kStripes - 1) / kStripes;
  tbb::parallel_for(Eigen::Index{0}, kStripes, [&](Eigen::Index stripe) {
    MatrixD& sum = sums[static_cast<std::size_t>(stripe)];
    sum = MatrixD::Zero(map_columns_, y.cols());
    const Eigen::Index end = std::min((stripe + 1) * stripe_rows, map_rows_);
    for (Eigen::Index first = stripe * stripe_rows; first < end; first += kBlock) {
      const Eigen::Index rows = std::min(kBlock, end - first);
      const MatrixD part = entries(first, rows);
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<blasint>(map_columns_),
                  static_cast<blasint>(y.cols()), static_cast<blasint>(rows), 1.0, part.data(),
                  static_cast<blasint>(part.cols()), y.data() + first * y.cols(),
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
  const bool square = map_rows_ == map_columns_;
  double differences = 0;
  for (Eigen::Index first = 0; first < map_rows_; first += kBlock) {
    const Eigen::Index count = std::min(kBlock, map_rows_ - first);
    const MatrixD part = entries(first, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto own_row = part.row(i).array();
      facts.not_finite_entries += map_columns_ - own_row.isFinite().count();
      double row = part.row(i).squaredNorm();
      if (shift_ != 0) {
        const double own = part(i, first + i);
        row += (own + shift_) * (own + shift_) - own * own;
      }
      // Rounding may leave a trace of what was taken away.
      if ((own_row == 0).count() >= map_columns_ - (shift_ != 0 ? 1 : 0) && !(row > 0)) {
        ++facts.zero_rows;
      }
      facts.squares += row;
    }
  }
  const auto entry = [this](Eigen::Index i, Eigen::Index j) {
    const Eigen::Index place = i * map_columns_ + j;
    return doubles_ ? doubles_[place] : static_cast<double>(floats_[place]);
  };
  for (Eigen::Index i = 0; square && i < map_rows_; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double difference = entry(i, j) - entry(j, i);
      differences += 2 * difference * difference;
    }
  }
  facts.asymmetry = std::sqrt(differences);
  return facts;
}

}  // namespace attnscope
