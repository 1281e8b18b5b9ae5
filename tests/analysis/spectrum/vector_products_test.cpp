// Products with sixteen vectors, compared with Eigen's in double.
#include "analysis/spectrum/vector_products.h"

#include <gtest/gtest.h>
#include <tuple>

#include "core/tensor/tensor.h"

namespace attnscope {
namespace {

class VectorProducts : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(VectorProducts, EqualPlainProducts) {
  const auto [rows, columns] = GetParam();
  const Eigen::Index stride = columns + 3;
  const Matrix wide = Matrix::Random(rows, stride);
  const Matrix x = Matrix::Random(columns, kVectors), y = Matrix::Random(rows, kVectors);
  const MatrixD a = wide.leftCols(columns).cast<double>();
  const FloatRows given{wide.data(), rows, columns, stride};
  Matrix product = Matrix::Constant(rows, kVectors, 7);
  times_vectors(given, x.data(), product.data());
  const MatrixD expected = a * x.cast<double>();
  EXPECT_LT((product.cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-6 * columns + 1e-6);
  Matrix sum = Matrix::Constant(columns, kVectors, 0.5);
  add_transposed_times_vectors(given, y.data(), sum.data());
  const MatrixD transposed = a.transpose() * y.cast<double>();
  EXPECT_LT((sum.cast<double>().array() - 0.5 - transposed.array()).abs().maxCoeff(),
            1e-6 * rows + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Extents, VectorProducts,
                         testing::Combine(testing::Values(1, 7, 8, 9, 33),
                                          testing::Values(1, 5, 256, 600)));

}  // namespace
}  // namespace attnscope
