#include "analysis/spectrum/map_operator.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <limits>
#include <numeric>
#include <tbb/parallel_for.h>
#include <vector>

#include "analysis/spectrum/vector_products.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Block of entries converted to double at a time, which fits into the L2 cache.
constexpr Eigen::Index kRows = 32, kColumns = 512;
// Number of row stripes with separate sums: independent of the number of threads.
constexpr Eigen::Index kStripes = 16;

using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int size(Eigen::Index extent) { return static_cast<int>(extent); }

/// Sum of all parts in order; moves from them.
template <class Matrix>
Matrix sum_parts(std::vector<Matrix>& parts) {
  Matrix sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) sum += parts[i];
  return sum;
}

/// Columns [first, first + 16) of x in float32, padded with zeros.
MatrixF sixteen_columns(const MatrixD& x, Eigen::Index first) {
  MatrixF some = MatrixF::Zero(x.rows(), kVectors);
  const Eigen::Index count = std::min<Eigen::Index>(kVectors, x.cols() - first);
  some.leftCols(count) = x.middleCols(first, count).cast<float>();
  return some;
}

/// Calls product(16 columns of x) for all columns, and concatenates the resulting columns.
template <class Product>
MatrixD by_sixteen(const MatrixD& x, Eigen::Index rows, const Product& product) {
  MatrixD result(rows, x.cols());
  for (Eigen::Index first = 0; first < x.cols(); first += kVectors) {
    const Eigen::Index count = std::min<Eigen::Index>(kVectors, x.cols() - first);
    result.middleCols(first, count) =
        product(sixteen_columns(x, first)).leftCols(count).template cast<double>();
  }
  return result;
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

MapOperator::MapOperator(const ImpliedMaps& maps, std::int64_t head, double shift)
    : maps_(&maps),
      head_(head),
      map_rows_(maps.extent(1)),
      map_columns_(maps.extent(2)),
      shift_(shift),
      flipped_(maps.extent(2) > maps.extent(1)) {
  use_one_blas_thread();
}

const float* MapOperator::float_rows(Eigen::Index row, Eigen::Index rows,
                                     std::vector<float>& band) const {
  if (floats_) return floats_ + row * map_columns_;
  band.resize(static_cast<std::size_t>(rows * map_columns_));
  maps_->rows(head_, row, {band.data(), rows, map_columns_, Eigen::OuterStride<>(map_columns_)});
  return band.data();
}

template <class Use>
void MapOperator::for_blocks(Eigen::Index first, Eigen::Index rows, std::vector<double>& buffer,
                             Use&& use) const {
  std::vector<float> band;
  const float* const floats = doubles_ ? nullptr : float_rows(first, rows, band);
  for (Eigen::Index column = 0; column < map_columns_; column += kColumns) {
    const Eigen::Index columns = std::min(kColumns, map_columns_ - column);
    if (doubles_) {
      use(doubles_ + first * map_columns_ + column, map_columns_, column, columns);
      continue;
    }
    buffer.resize(static_cast<std::size_t>(rows * columns));
    for (Eigen::Index i = 0; i < rows; ++i) {
      const float* const from = floats + i * map_columns_ + column;
      std::copy(from, from + columns, buffer.data() + i * columns);
    }
    use(static_cast<const double*>(buffer.data()), columns, column, columns);
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
  MatrixD product = sum_parts(sums);
  if (shift_ != 0) product += shift_ * y;
  return product;
}

MatrixD MapOperator::by_rows_roughly(const MatrixD& x) const {
  MatrixD result = by_sixteen(x, map_rows_, [&](const MatrixF& given) {
    MatrixF product(map_rows_, kVectors);
    const Eigen::Index blocks = (map_rows_ + kRows - 1) / kRows;
    tbb::parallel_for(Eigen::Index{0}, blocks, [&](Eigen::Index block) {
      const Eigen::Index first = block * kRows, rows = std::min(kRows, map_rows_ - first);
      std::vector<float> band;
      times_vectors({float_rows(first, rows, band), rows, map_columns_, map_columns_}, given.data(),
                    product.data() + first * kVectors);
    });
    return product;
  });
  if (shift_ != 0) result += shift_ * x;
  return result;
}

MatrixD MapOperator::by_columns_roughly(const MatrixD& y) const {
  MatrixD result = by_sixteen(y, map_columns_, [&](const MatrixF& given) {
    std::vector<MatrixF> sums(kStripes);
    const Eigen::Index stripe_rows = (map_rows_ + kStripes - 1) / kStripes;
    tbb::parallel_for(Eigen::Index{0}, kStripes, [&](Eigen::Index stripe) {
      MatrixF& sum = sums[static_cast<std::size_t>(stripe)];
      sum = MatrixF::Zero(map_columns_, kVectors);
      const Eigen::Index end = std::min((stripe + 1) * stripe_rows, map_rows_);
      std::vector<float> band;
      for (Eigen::Index first = stripe * stripe_rows; first < end; first += kRows) {
        const Eigen::Index rows = std::min(kRows, end - first);
        add_transposed_times_vectors(
            {float_rows(first, rows, band), rows, map_columns_, map_columns_},
            given.data() + first * kVectors, sum.data());
      }
    });
    return sum_parts(sums);
  });
  if (shift_ != 0) result += shift_ * y;
  return result;
}

MapOperator::Facts MapOperator::facts() const {
  Facts facts;
  std::vector<float> band;
  std::vector<double> row(static_cast<std::size_t>(map_columns_));
  for (Eigen::Index first = 0; first < map_rows_; first += kRows) {
    const Eigen::Index count = std::min(kRows, map_rows_ - first);
    const float* const floats = doubles_ ? nullptr : float_rows(first, count, band);
    for (Eigen::Index i = 0; i < count; ++i) {
      if (doubles_) {
        std::copy_n(doubles_ + (first + i) * map_columns_, map_columns_, row.data());
      } else {
        std::copy_n(floats + i * map_columns_, map_columns_, row.data());
      }
      const Eigen::Map<const Eigen::ArrayXd> own(row.data(), map_columns_);
      facts.not_finite_entries += map_columns_ - own.isFinite().count();
      double squares = own.square().sum();
      if (shift_ != 0) {
        const double diagonal = own(first + i);
        squares += (diagonal + shift_) * (diagonal + shift_) - diagonal * diagonal;
      }
      // Rounding may leave a small difference of squares in a row of zeros.
      if ((own == 0).count() >= map_columns_ - (shift_ != 0 ? 1 : 0) && !(squares > 0)) {
        ++facts.zero_rows;
      }
      facts.squares += squares;
    }
  }
  facts.asymmetry = asymmetry();
  return facts;
}

double MapOperator::asymmetry() const {
  if (map_rows_ != map_columns_) return 0;
  if (maps_) return std::numeric_limits<double>::quiet_NaN();
  const auto entry = [this](Eigen::Index i, Eigen::Index j) {
    const Eigen::Index place = i * map_columns_ + j;
    return doubles_ ? doubles_[place] : static_cast<double>(floats_[place]);
  };
  // Square tiles stay in the L1 cache; whole columns would miss it at every entry.
  constexpr Eigen::Index kSide = 32;
  const Eigen::Index bands = (map_rows_ + kSide - 1) / kSide;
  std::vector<double> differences(static_cast<std::size_t>(bands));
  tbb::parallel_for(Eigen::Index{0}, bands, [&](Eigen::Index band) {
    double& sum = differences[static_cast<std::size_t>(band)];
    const Eigen::Index first = band * kSide, end = std::min(first + kSide, map_rows_);
    for (Eigen::Index column = 0; column < end; column += kSide) {
      for (Eigen::Index i = first; i < end; ++i) {
        for (Eigen::Index j = column; j < std::min(column + kSide, i); ++j) {
          const double difference = entry(i, j) - entry(j, i);
          sum += 2 * difference * difference;
        }
      }
    }
  });
  return std::sqrt(std::accumulate(differences.begin(), differences.end(), 0.0));
}

}  // namespace attnscope
