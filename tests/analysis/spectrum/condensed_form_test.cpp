#include "analysis/spectrum/condensed_form.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/support/eigen_decompositions.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 3, 7, 8, 9, 16, 50, 64, 197};

MatrixD random_matrix(std::int64_t n, unsigned seed) {
  return random_normal({n, n}, seed).matrix().cast<double>();
}

PaddedMatrix padded(const MatrixD& matrix) {
  PaddedMatrix copy(matrix.rows());
  copy.matrix() = matrix;
  return copy;
}

MatrixD tridiagonal(const TwoDiagonals& form) {
  const auto n = std::ssize(form.diagonal);
  MatrixD matrix = MatrixD::Zero(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    matrix(i, i) = form.diagonal[static_cast<std::size_t>(i)];
    if (i == 0) continue;
    matrix(i, i - 1) = matrix(i - 1, i) = form.off_diagonal[static_cast<std::size_t>(i - 1)];
  }
  return matrix;
}

MatrixD bidiagonal(const TwoDiagonals& form) {
  return MatrixD(tridiagonal(form).triangularView<Eigen::Lower>());
}

void expect_same_eigenvalues(const MatrixD& symmetric) {
  PaddedMatrix work = padded(symmetric);
  // Entries above the diagonal are not read.
  work.matrix().triangularView<Eigen::StrictlyUpper>().setConstant(1e9);
  const TwoDiagonals form = tridiagonal_form(work);
  ASSERT_EQ(std::ssize(form.diagonal), symmetric.rows());
  ASSERT_EQ(std::ssize(form.off_diagonal), symmetric.rows() - 1);
  const Eigen::VectorXd expected = eigenvalues_by_eigen(symmetric),
                        found = eigenvalues_by_eigen(tridiagonal(form));
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-14 * symmetric.norm());
}

void expect_same_singular_values(const MatrixD& matrix) {
  PaddedMatrix work = padded(matrix);
  const TwoDiagonals form = bidiagonal_form(work);
  ASSERT_EQ(std::ssize(form.diagonal), matrix.rows());
  ASSERT_EQ(std::ssize(form.off_diagonal), matrix.rows() - 1);
  const Eigen::VectorXd expected = svd_by_eigen(matrix).values,
                        found = svd_by_eigen(bidiagonal(form)).values;
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-14 * matrix.norm());
}

TEST(TridiagonalForm, HasTheEigenvaluesOfTheMatrix) {
  for (const std::int64_t n : kSizes) {
    const MatrixD a = random_matrix(n, 1);
    expect_same_eigenvalues(a + a.transpose());
    expect_same_eigenvalues(a * a.transpose());
  }
}

TEST(TridiagonalForm, IsRightForNearlyEmptyMatrices) {
  expect_same_eigenvalues(MatrixD::Zero(21, 21));
  expect_same_eigenvalues(MatrixD::Identity(21, 21));
  expect_same_eigenvalues(MatrixD::Constant(21, 21, 3));
  MatrixD corner = MatrixD::Zero(21, 21);
  corner(20, 0) = corner(0, 20) = 2;
  corner(3, 3) = -1;
  expect_same_eigenvalues(corner);
  const MatrixD narrow = random_matrix(50, 2).leftCols(4);
  expect_same_eigenvalues(narrow * narrow.transpose());
  Eigen::VectorXd grades(50);
  for (Eigen::Index i = 0; i < 50; ++i) grades(i) = std::pow(10.0, -0.4 * static_cast<double>(i));
  const MatrixD graded = grades.asDiagonal() * random_matrix(50, 3) * grades.asDiagonal();
  expect_same_eigenvalues(graded + graded.transpose());
}

TEST(BidiagonalForm, HasTheSingularValuesOfTheMatrix) {
  for (const std::int64_t n : kSizes) {
    expect_same_singular_values(random_matrix(n, 4));
    expect_same_singular_values(random_matrix(n, 5).cwiseAbs());
  }
}

TEST(BidiagonalForm, IsRightForNearlyEmptyMatrices) {
  expect_same_singular_values(MatrixD::Zero(21, 21));
  expect_same_singular_values(MatrixD::Identity(21, 21));
  expect_same_singular_values(MatrixD::Constant(21, 21, 3));
  expect_same_singular_values(MatrixD(random_matrix(21, 6).triangularView<Eigen::Lower>()));
  expect_same_singular_values(MatrixD(random_matrix(21, 6).triangularView<Eigen::Upper>()));
  MatrixD corner = MatrixD::Zero(21, 21);
  corner(0, 20) = 2;
  corner(20, 3) = -1;
  expect_same_singular_values(corner);
  expect_same_singular_values(random_matrix(50, 7).leftCols(4) * random_matrix(50, 8).topRows(4));
  Eigen::VectorXd grades(50);
  for (Eigen::Index i = 0; i < 50; ++i) grades(i) = std::pow(10.0, -0.4 * static_cast<double>(i));
  expect_same_singular_values(grades.asDiagonal() * random_matrix(50, 9));
  expect_same_singular_values(random_matrix(50, 9) * grades.asDiagonal());
}

}  // namespace
}  // namespace attnscope
