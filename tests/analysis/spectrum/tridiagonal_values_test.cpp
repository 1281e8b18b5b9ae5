#include "analysis/spectrum/tridiagonal_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <random>

#include "tests/support/eigen_decompositions.h"

namespace attnscope {
namespace {

struct Tridiagonal {
  std::vector<double> diagonal, off_diagonal;

  [[nodiscard]] std::int64_t size() const { return std::ssize(diagonal); }
  [[nodiscard]] double norm() const {
    double norm = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      norm = std::max(norm, std::abs(diagonal[i]) + (i > 0 ? std::abs(off_diagonal[i - 1]) : 0) +
                                (i < off_diagonal.size() ? std::abs(off_diagonal[i]) : 0));
    }
    return norm;
  }
  /// Eigenvalues by Eigen's QR algorithm in long double, descending; negative ones are set to 0.
  [[nodiscard]] std::vector<double> values_by_eigen() const {
    std::vector<double> values;
    for (const double value : tridiagonal_eigenvalues_by_eigen(diagonal, off_diagonal)) {
      values.push_back(std::max(value, 0.0));
    }
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
  }
};

Tridiagonal random_tridiagonal(std::int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Tridiagonal t;
  for (std::int64_t i = 0; i < size; ++i) {
    t.diagonal.push_back(normal(random));
    if (i > 0) t.off_diagonal.push_back(normal(random));
  }
  return t;
}

/// Expects each value to within `room` roundings of the norm.
void expect_values(const Tridiagonal& t, const std::vector<double>& expected, double room = 4) {
  const auto found = greatest_eigenvalues(t.diagonal, t.off_diagonal, t.size());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    ASSERT_NEAR((*found)[j], expected[j], room * 0x1p-52 * t.norm()) << j;
  }
}

TEST(TridiagonalValues, AreThoseOfTheQrAlgorithm) {
  for (const std::int64_t size : {1, 2, 3, 7, 8, 9, 50, 197, 577}) {
    for (const unsigned seed : {1U, 2U}) {
      const Tridiagonal t = random_tridiagonal(size, seed);
      expect_values(t, t.values_by_eigen());
    }
  }
}

TEST(TridiagonalValues, AreCosinesForSecondDifferences) {
  for (const std::int64_t size : {1, 2, 5, 197, 1024}) {
    const auto count = static_cast<std::size_t>(size);
    const Tridiagonal t{std::vector<double>(count, 2), std::vector<double>(count - 1, -1)};
    std::vector<double> expected;
    for (std::int64_t j = size; j > 0; --j) {
      expected.push_back(2 - 2 * std::cos(std::numbers::pi * static_cast<double>(j) /
                                          static_cast<double>(size + 1)));
    }
    expect_values(t, expected);
  }
}

TEST(TridiagonalValues, AreTheUpperHalfWithoutADiagonal) {
  // With 0 on the diagonal and 1 next to it, the eigenvalues are ± 2 cos of the same angles.
  const std::vector<double> off_diagonal(2 * 197 - 1, 1.0);
  const auto found = greatest_eigenvalues({}, off_diagonal, 197);
  ASSERT_TRUE(found);
  for (std::size_t j = 0; j < 197; ++j) {
    const double angle = std::numbers::pi * static_cast<double>(j + 1) / (2 * 197 + 1);
    ASSERT_NEAR((*found)[j], 2 * std::cos(angle), 8 * 0x1p-52);
  }
}

TEST(TridiagonalValues, AreRepeatedAsOftenAsTheyOccur) {
  Tridiagonal t;
  std::vector<double> expected;
  for (int i = 0; i < 120; ++i) {
    t.diagonal.push_back(i % 3 == 0 ? 1 : i % 3 == 1 ? 0.25 : 0);
    if (i > 0) t.off_diagonal.push_back(0);
  }
  expected = t.diagonal;
  std::sort(expected.begin(), expected.end(), std::greater<>());
  expect_values(t, expected);
  std::fill(t.diagonal.begin(), t.diagonal.end(), 1.0);
  expect_values(t, t.diagonal);
  std::fill(t.diagonal.begin(), t.diagonal.end(), 0.0);
  EXPECT_EQ(greatest_eigenvalues(t.diagonal, t.off_diagonal, t.size()), t.diagonal);
}

TEST(TridiagonalValues, AreRightWhetherCloseOrFarApart) {
  // Wilkinson's W⁺ has pairs of eigenvalues that agree to rounding.
  Tridiagonal wilkinson;
  for (int i = -50; i <= 50; ++i) {
    wilkinson.diagonal.push_back(std::abs(i));
    if (i > -50) wilkinson.off_diagonal.push_back(1);
  }
  expect_values(wilkinson, wilkinson.values_by_eigen());
  // The graded matrix falls from 1 to 10⁻³⁰.
  Tridiagonal graded;
  for (int i = 0; i < 61; ++i) {
    graded.diagonal.push_back(std::pow(10.0, -0.5 * i));
    if (i > 0) graded.off_diagonal.push_back(0.1 * graded.diagonal.back());
  }
  expect_values(graded, graded.values_by_eigen());
  std::reverse(graded.diagonal.begin(), graded.diagonal.end());
  std::reverse(graded.off_diagonal.begin(), graded.off_diagonal.end());
  expect_values(graded, graded.values_by_eigen());
  // The eigenvalues form a cluster whose coupling is too weak to be seen.
  Tridiagonal cluster = random_tridiagonal(90, 3);
  for (double& value : cluster.diagonal) value = 1 + 1e-13 * value;
  for (double& value : cluster.off_diagonal) value *= 1e-14;
  expect_values(cluster, cluster.values_by_eigen());
}

TEST(TridiagonalValues, ScaleWithTheMatrix) {
  const Tridiagonal t = random_tridiagonal(61, 4);
  const auto values = greatest_eigenvalues(t.diagonal, t.off_diagonal, 61);
  ASSERT_TRUE(values);
  for (const int exponent : {-1000, -300, 300, 1000}) {
    Tridiagonal scaled = t;
    for (double& value : scaled.diagonal) value = std::ldexp(value, exponent);
    for (double& value : scaled.off_diagonal) value = std::ldexp(value, exponent);
    std::vector<double> expected = *values;
    for (double& value : expected) value = std::ldexp(value, exponent);
    EXPECT_EQ(greatest_eigenvalues(scaled.diagonal, scaled.off_diagonal, 61), expected);
  }
}

TEST(TridiagonalValues, AreTheGreatestWhenOnlyAFewAreRequested) {
  const Tridiagonal t = random_tridiagonal(100, 5);
  const std::vector<double> all = t.values_by_eigen();
  const auto few = greatest_eigenvalues(t.diagonal, t.off_diagonal, 7);
  ASSERT_TRUE(few);
  ASSERT_EQ(few->size(), 7U);
  for (std::size_t j = 0; j < 7; ++j) EXPECT_NEAR((*few)[j], all[j], 1e-14 * t.norm());
}

TEST(TridiagonalValues, AreNoneForNonFiniteMatrices) {
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Tridiagonal t = random_tridiagonal(9, 6);
    t.diagonal[4] = wrong;
    EXPECT_FALSE(greatest_eigenvalues(t.diagonal, t.off_diagonal, 9));
    t.diagonal[4] = 0;
    t.off_diagonal[7] = wrong;
    EXPECT_FALSE(greatest_eigenvalues(t.diagonal, t.off_diagonal, 9));
  }
}

TEST(SturmSequence, IsTheCharacteristicPolynomial) {
  const Tridiagonal t = random_tridiagonal(45, 7);
  std::vector<double> half = t.diagonal, off_diagonal = t.off_diagonal;
  for (double& value : half) value /= 8;
  for (double& value : off_diagonal) value /= 8;
  const Tridiagonal small{half, off_diagonal};
  const Eigen::VectorXd eigenvalues = tridiagonal_eigenvalues_by_eigen(half, off_diagonal);
  std::vector<SturmPoint> points;
  for (int i = 0; i < 37; ++i) points.push_back({.x = -1 + i / 18.0});
  std::vector<SturmPoint> uncounted = points;
  const SturmSequence sequence(half, off_diagonal);
  sequence.evaluate(points, SturmSequence::Counts::yes);
  sequence.evaluate(uncounted, SturmSequence::Counts::no);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SturmPoint& point = points[i];
    EXPECT_EQ(point.above, (eigenvalues.array() > point.x).count());
    const double expected = (point.x - eigenvalues.array()).prod();
    EXPECT_NEAR(std::ldexp(point.value, static_cast<int>(point.exponent)), expected,
                1e-9 * std::abs(expected));
    EXPECT_EQ(uncounted[i].value, point.value);
    EXPECT_EQ(uncounted[i].exponent, point.exponent);
  }
}

}  // namespace
}  // namespace attnscope
