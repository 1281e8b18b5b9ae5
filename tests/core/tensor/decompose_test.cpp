#include "core/tensor/decompose.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace attnscope {
namespace {

// The order of the number of operations for one entry of the largest matrix here.
constexpr double kDecomposeTolerance = 1e-12;

Eigen::MatrixXd some_matrix(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd matrix(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j)
      matrix(i, j) = std::sin(double(1 + 7 * i + 3 * j * j));
  }
  return matrix;
}

Eigen::MatrixXd symmetric(Eigen::Index size) {
  const Eigen::MatrixXd half = some_matrix(size, size);
  return half + half.transpose();
}

void expect_equal_within_tolerance(const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  if (found.size() == 0) return;
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), kDecomposeTolerance);
}

void expect_orthonormal(const Eigen::MatrixXd& columns) {
  expect_equal_within_tolerance(columns.transpose() * columns,
                                Eigen::MatrixXd::Identity(columns.cols(), columns.cols()));
}

class ShapeTest : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ShapeTest, SingularVectorsMakeTheMatrixAgain) {
  const Eigen::MatrixXd matrix = some_matrix(GetParam().first, GetParam().second);
  const SingularVectors svd = singular_vectors(matrix);
  expect_orthonormal(svd.left);
  expect_orthonormal(svd.right);
  expect_equal_within_tolerance(svd.left * svd.values.asDiagonal() * svd.right.transpose(), matrix);
  for (Eigen::Index i = 1; i < svd.values.size(); ++i) EXPECT_LE(svd.values(i), svd.values(i - 1));
  expect_equal_within_tolerance(singular_values_of(matrix), svd.values);
}

TEST_P(ShapeTest, TriangularFactorHasTheMatrixsProduct) {
  const Eigen::MatrixXd matrix = some_matrix(GetParam().first, GetParam().second);
  const Eigen::MatrixXd factor = triangular_factor(matrix);
  expect_equal_within_tolerance(factor.transpose() * factor, matrix.transpose() * matrix);
  for (Eigen::Index i = 0; i < factor.rows(); ++i) {
    for (Eigen::Index j = 0; j < std::min(i, factor.cols()); ++j) EXPECT_EQ(factor(i, j), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Decompose, ShapeTest,
                         testing::Values(std::pair{1, 1}, std::pair{5, 3}, std::pair{3, 5},
                                         std::pair{16, 16}, std::pair{0, 4}, std::pair{4, 0}));

TEST(Decompose, SymmetricEigenpairsSolveTheEquation) {
  const Eigen::MatrixXd matrix = symmetric(9);
  const Eigenpairs pairs = symmetric_eigenpairs(matrix);
  expect_orthonormal(pairs.vectors);
  expect_equal_within_tolerance(matrix * pairs.vectors, pairs.vectors * pairs.values.asDiagonal());
  for (Eigen::Index i = 1; i < pairs.values.size(); ++i) {
    EXPECT_GE(pairs.values(i), pairs.values(i - 1));
  }
}

TEST(Decompose, EigenpairsOfAMetricSolveTheGeneralisedEquation) {
  const Eigen::MatrixXd matrix = symmetric(7), half = some_matrix(7, 7);
  const Eigen::MatrixXd metric = half * half.transpose() + Eigen::MatrixXd::Identity(7, 7);
  const Eigenpairs pairs = symmetric_eigenpairs(matrix, metric);
  expect_equal_within_tolerance(matrix * pairs.vectors,
                                metric * pairs.vectors * pairs.values.asDiagonal());
  expect_equal_within_tolerance(pairs.vectors.transpose() * metric * pairs.vectors,
                                Eigen::MatrixXd::Identity(7, 7));
}

TEST(Decompose, TridiagonalEigenpairsAreThoseOfTheWholeMatrix) {
  for (const Eigen::Index size : {1, 2, 12}) {
    const Eigen::VectorXd diagonal = some_matrix(size, 1), beside = some_matrix(size, 2).col(1);
    Eigen::MatrixXd whole = diagonal.asDiagonal();
    for (Eigen::Index i = 0; i + 1 < size; ++i) whole(i, i + 1) = whole(i + 1, i) = beside(i);
    const Eigenpairs pairs = tridiagonal_eigenpairs(diagonal, beside.head(size - 1));
    expect_equal_within_tolerance(pairs.values, symmetric_eigenpairs(whole).values);
    expect_equal_within_tolerance(whole * pairs.vectors, pairs.vectors * pairs.values.asDiagonal());
  }
}

TEST(Decompose, EigenvaluesOfARotationAreItsAngle) {
  Eigen::MatrixXd turn(2, 2);
  turn << std::cos(0.3), -std::sin(0.3), std::sin(0.3), std::cos(0.3);
  for (const std::complex<double>& value : eigenvalues_of(turn)) {
    EXPECT_NEAR(value.real(), std::cos(0.3), kDecomposeTolerance);
    EXPECT_NEAR(std::abs(value.imag()), std::sin(0.3), kDecomposeTolerance);
  }
}

TEST(Decompose, NotANumberGivesNotANumber) {
  Eigen::MatrixXd matrix = symmetric(4);
  matrix(2, 1) = matrix(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(singular_vectors(matrix).values.hasNaN());
  EXPECT_TRUE(singular_values_of(matrix).hasNaN());
  EXPECT_TRUE(symmetric_eigenpairs(matrix).values.hasNaN());
  EXPECT_TRUE(symmetric_eigenpairs(symmetric(4), matrix).values.hasNaN());
  EXPECT_TRUE(triangular_factor(matrix).hasNaN());
  EXPECT_TRUE(std::isnan(eigenvalues_of(matrix).front().real()));
}

// A metric that is not positive definite has no generalised eigenpairs.
TEST(Decompose, AnIndefiniteMetricGivesNotANumber) {
  EXPECT_TRUE(symmetric_eigenpairs(symmetric(3), -Eigen::MatrixXd::Identity(3, 3)).values.hasNaN());
}

}  // namespace
}  // namespace attnscope
