#include "analysis/spectrum/map_operator.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <tbb/parallel_for.h>
#include <vector>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Entries taken to double at a time: they stay in the L2 cache.
constexpr Eigen::Index kRows = 32, kColumns = 512;
// Stripes of rows that are summed apart: the same for any number of threads.
constexpr Eigen::Index kStripes = 16;

using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

blasint size(Eigen::Index extent) { return static_cast<blasint>(extent); }

/// The sum of all, in their order; they are used up.
template <class Matrix>
Matrix sum_of(std::vector<Matrix>& parts) {
  Matrix sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) sum += parts[i];
  return sum;
}

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

const double* MapOperator::entries(Eigen::Index row, Eigen::Index rows, Eigen::Index column,
                                   Eigen::Index columns, std::vector<double>& buffer,
                                   Eigen::Index& stride) const {
  const Eigen::Index start = row * map_columns_ + column;
  if (doubles_) {
    stride = map_columns_;
    return doubles_ + start;
  }
  stride = columns;
  buffer.resize(static_cast<std::size_t>(rows * columns));
  for (Eigen::Index i = 0; i < rows; ++i) {
    const float* const from = floats_ + start + i * map_columns_;
    std::copy(from, from + columns, buffer.data() + i * columns);
  }
  return buffer.data();
}

template <class Use>
void MapOperator::for_blocks(Eigen::Index first, Eigen::Index rows, std::vector<double>& buffer,
                             Use&& use) const {
  for (Eigen::Index column = 0; column < map_columns_; column += kColumns) {
    const Eigen::Index columns = std::min(kColumns, map_columns_ - column);
    Eigen::Index stride = 0;
    const double* const part = entries(first, rows, column, columns, buffer, stride);
    use(part, stride, column, columns);
  }
}

MatrixD MapOperator::times(const MatrixD& x) const { return flipped_ ? by_columns(x) : by_rows(x); }

MatrixD MapOperator::times_transposed(const MatrixD& y) const {
  return flipped_ ? by_rows(y) : by_columns(y);
}

MatrixD MapOperator::times_roughly(const MatrixD& x) const {
  if (doubles_) return times(x);
  return flipped_ ? by_columns_roughly(x) : by_rows_roughly(x);
}

MatrixD MapOperator::times_transposed_roughly(const MatrixD& y) const {
  if (doubles_) return times_transposed(y);
  return flipped_ ? by_rows_roughly(y) : by_columns_roughly(y);
}

MatrixD MapOperator::by_rows(const MatrixD& x) const {
  MatrixD product = MatrixD::Zero(map_rows_, x.cols());
  const Eigen::Index blocks = (map_rows_ + kRows - 1) / kRows;
  tbb::parallel_for(Eigen::Index{0}, blocks, [&](Eigen::Index block) {
    std::vector<double> buffer;
    const Eigen::Index first = block * kRows, rows = std::min(kRows, map_rows_ - first);
    for_blocks(
        first, rows, buffer,
        [&](const double* part, Eigen::Index stride, Eigen::Index column, Eigen::Index columns) {
          cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(rows), size(x.cols()),
                      size(columns), 1.0, part, size(stride), x.data() + column * x.cols(),
                      size(x.cols()), 1.0, product.data() + first * x.cols(), size(x.cols()));
        });
  });
  if (shift_ != 0) product += shift_ * x;
  return product;
}

MatrixD MapOperator::by_columns(const MatrixD& y) const {
  std::vector<MatrixD> sums(kStripes);
  const Eigen::Index stripe_rows = (map_rows_ + kStripes - 1) / kStripes;
  tbb::parallel_for(Eigen::Index{0}, kStripes, [&](Eigen::Index stripe) {
    std::vector<double> buffer;
    MatrixD& sum = sums[static_cast<std::size_t>(stripe)];
    sum = MatrixD::Zero(map_columns_, y.cols());
    const Eigen::Index end = std::min((stripe + 1) * stripe_rows, map_rows_);
    for (Eigen::Index first = stripe * stripe_rows; first < end; first += kRows) {
      const Eigen::Index rows = std::min(kRows, end - first);
      for_blocks(
          first, rows, buffer,
          [&](const double* part, Eigen::Index stride, Eigen::Index column, Eigen::Index columns) {
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size(columns), size(y.cols()),
                        size(rows), 1.0, part, size(stride), y.data() + first * y.cols(),
                        size(y.cols()), 1.0, sum.data() + column * y.cols(), size(y.cols()));
          });
    }
  });
  MatrixD product = sum_of(sums);
  if (shift_ != 0) product += shift_ * y;
  return product;
}

MatrixD MapOperator::by_rows_roughly(const MatrixD& x) const {
  const MatrixF given = x.cast<float>();
  MatrixF product(map_rows_, x.cols());
  const Eigen::Index blocks = (map_rows_ + kRows - 1) / kRows;
  tbb::parallel_for(Eigen::Index{0}, blocks, [&](Eigen::Index block) {
    const Eigen::Index first = block * kRows, rows = std::min(kRows, map_rows_ - first);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(rows), size(given.cols()),
                size(map_columns_), 1.0F, floats_ + first * map_columns_, size(map_columns_),
                given.data(), size(given.cols()), 0.0F, product.data() + first * given.cols(),
                size(given.cols()));
  });
  MatrixD result = product.cast<double>();
  if (shift_ != 0) result += shift_ * x;
  return result;
}

MatrixD MapOperator::by_columns_roughly(const MatrixD& y) const {
  const MatrixF given = y.cast<float>();
  std::vector<MatrixF> sums(kStripes);
  const Eigen::Index stripe_rows = (map_rows_ + kStripes - 1) / kStripes;
  tbb::parallel_for(Eigen::Index{0}, kStripes, [&](Eigen::Index stripe) {
    const Eigen::Index first = std::min(stripe * stripe_rows, map_rows_);
    const Eigen::Index rows = std::min(stripe_rows, map_rows_ - first);
    MatrixF& sum = sums[static_cast<std::size_t>(stripe)];
    sum = MatrixF::Zero(map_columns_, given.cols());
    if (rows == 0) return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size(map_columns_), size(given.cols()),
                size(rows), 1.0F, floats_ + first * map_columns_, size(map_columns_),
                given.data() + first * given.cols(), size(given.cols()), 0.0F, sum.data(),
                size(given.cols()));
  });
  MatrixD result = sum_of(sums).cast<double>();
  if (shift_ != 0) result += shift_ * y;
  return result;
}

MapOperator::Facts MapOperator::facts() const {
  Facts facts;
  const bool square = map_rows_ == map_columns_;
  double differences = 0;
  std::vector<double> buffer;
  for (Eigen::Index first = 0; first < map_rows_; first += kRows) {
    const Eigen::Index count = std::min(kRows, map_rows_ - first);
    Eigen::Index stride = 0;
    const ConstMatrixDMap part(entries(first, count, 0, map_columns_, buffer, stride), count,
                               map_columns_);
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
