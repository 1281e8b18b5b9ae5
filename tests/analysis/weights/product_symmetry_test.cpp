#include "analysis/weights/product_symmetry.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/hashed_weights.h"

namespace attnscope {
namespace {

MatrixD hashed_rows(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const std::vector<double> values = hashed_uniform(name, rows * columns);
  return Eigen::Map<const MatrixD>(values.data(), rows, columns);
}

TEST(ProductSymmetry, IsOneZeroOrAHalf) {
  const MatrixD q = hashed_rows("q", 200, 7), k = hashed_rows("k", 200, 7);
  EXPECT_NEAR(product_symmetry(q, q.transpose()).symmetry, 1, 1e-12);
  MatrixD left(200, 14), right(14, 200);  // Q Kᵀ − K Qᵀ
  left << q, -k;
  right << k.transpose(), q.transpose();
  EXPECT_NEAR(product_symmetry(left, right).symmetry, 0, 1e-12);
  right << k.transpose(), -q.transpose();  // Q Kᵀ + K Qᵀ
  EXPECT_NEAR(product_symmetry(left, right).symmetry, 1, 1e-12);
  EXPECT_NEAR(product_symmetry(q, k.transpose()).symmetry, 0.5, 0.02);
}

TEST(ProductSymmetry, DirectionIsThatOfTheGreatNorms) {
  const MatrixD q = hashed_rows("q", 60, 5);
  MatrixD k = hashed_rows("k", 60, 5);
  k.row(17) *= 40;  // one great column of Q Kᵀ
  EXPECT_GT(product_symmetry(q, k.transpose()).directionality, 0.9);
  EXPECT_LT(product_symmetry(k, q.transpose()).directionality, -0.9);
  EXPECT_EQ(product_symmetry(MatrixD::Identity(9, 9), MatrixD::Identity(9, 9)).directionality, 0);
}

TEST(ProductSymmetry, IsTheSameForFactorsAndTheirProduct) {
  const MatrixD q = hashed_rows("q", 600, 20), k = hashed_rows("k", 20, 600);
  const ProductSymmetry thin = product_symmetry(q, k), whole = product_symmetry(q * k);
  EXPECT_NEAR(thin.symmetry, whole.symmetry, 1e-12);
  EXPECT_NEAR(thin.directionality, whole.directionality, 1e-9);
  EXPECT_NE(whole.directionality, 0);
}

TEST(ProductSymmetry, IsUnknownWhereItIsNotDefined) {
  const ProductSymmetry oblong = product_symmetry(MatrixD::Ones(4, 2), MatrixD::Ones(2, 5));
  EXPECT_TRUE(std::isnan(oblong.symmetry));
  EXPECT_TRUE(std::isnan(oblong.directionality));
  EXPECT_TRUE(std::isnan(product_symmetry(MatrixD::Zero(4, 2), MatrixD::Ones(2, 4)).symmetry));
  MatrixD broken = MatrixD::Ones(4, 2);
  broken(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(product_symmetry(broken, MatrixD::Ones(2, 4)).directionality));
}

}  // namespace
}  // namespace attnscope
