#include "analysis/spectrum/singular_values.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lapacke.h>
#include <limits>

#include "analysis/spectrum/rank.h"
#include "tests/support/eigen_decompositions.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

constexpr SpectrumAccuracy kBoth[] = {SpectrumAccuracy::cumulative, SpectrumAccuracy::every_value};

class AgainstNumPy : public testing::TestWithParam<std::size_t> {
 protected:
  AgainstNumPy()
      : reference_(read_test_data("spectrum/reference.json").at("maps").at(GetParam())),
        map_(kernel_map(reference_.at("n"), reference_.at("width"), reference_.at("power"),
                        reference_.at("seed"))) {}

  [[nodiscard]] MatrixD matrix(bool identity) const {
    MatrixD matrix = map_.matrix().cast<double>();
    if (identity) matrix.diagonal().array() += 1.0;
    return matrix;
  }

  nlohmann::json reference_;
  Tensor map_;
};

TEST_P(AgainstNumPy, EveryShareIsRightToOneInAHundredThousand) {
  for (const bool identity : {false, true}) {
    const std::vector<double> expected = cumulative_share(
        reference_.at(identity ? "with_identity" : "singular_values").get<std::vector<double>>());
    for (const SpectrumAccuracy accuracy : kBoth) {
      MatrixD map = matrix(identity);
      const SingularValues found = singular_values(map, accuracy);
      ASSERT_TRUE(found.converged);
      const std::vector<double> share = cumulative_share(found.values);
      ASSERT_EQ(share.size(), expected.size());
      for (std::size_t r = 0; r < share.size(); ++r) {
        ASSERT_NEAR(share[r], expected[r], 1e-5 * expected[r]);
        // The accuracy is far better than guaranteed, because the guarantee covers harder maps.
        ASSERT_NEAR(share[r], expected[r], 1e-6 * expected[r]);
      }
      EXPECT_EQ(rank_of_share(share, 0.9), rank_of_share(expected, 0.9));
    }
  }
}

TEST_P(AgainstNumPy, SharesOneProductWithoutAndWithIdentity) {
  for (const SpectrumAccuracy accuracy : kBoth) {
    MatrixD map = matrix(false);
    const auto both = singular_values_without_and_with_identity(map, accuracy);
    for (const bool identity : {false, true}) {
      const std::vector<double> expected = cumulative_share(
          reference_.at(identity ? "with_identity" : "singular_values").get<std::vector<double>>());
      const std::vector<double> share = cumulative_share(both[identity ? 1 : 0].values);
      ASSERT_EQ(share.size(), expected.size());
      for (std::size_t r = 0; r < share.size(); ++r) {
        ASSERT_NEAR(share[r], expected[r], 1e-6 * expected[r]);
      }
    }
  }
}

TEST_P(AgainstNumPy, EveryValueIsRightToRounding) {
  for (const bool identity : {false, true}) {
    const std::vector<double> expected =
        reference_.at(identity ? "with_identity" : "singular_values");
    MatrixD map = matrix(identity);
    const SingularValues found = singular_values(map, SpectrumAccuracy::every_value);
    ASSERT_EQ(found.values.size(), expected.size());
    const double tolerance = static_cast<double>(expected.size()) * 0x1p-52 * expected.front();
    for (std::size_t t = 0; t < expected.size(); ++t) {
      ASSERT_NEAR(found.values[t], expected[t], tolerance);
    }
  }
}

TEST_P(AgainstNumPy, MeasuresAgree) {
  const MapSpectrum spectrum = spectrum_of(std::as_const(map_).matrix());
  EXPECT_EQ(spectrum.state, SpectrumState::ready);
  EXPECT_NEAR(spectrum.symmetry_error, reference_.at("symmetry_error"), 1e-12);
  EXPECT_EQ(spectrum.numerical_rank, reference_.at("numerical_rank").get<std::int64_t>());
}

INSTANTIATE_TEST_SUITE_P(Maps, AgainstNumPy, testing::Range<std::size_t>(0, 8));

/// An orthogonal matrix of order n.
MatrixD orthogonal(std::int64_t n, unsigned seed) {
  return orthogonal_factor_by_eigen(random_normal({n, n}, seed).matrix().cast<double>());
}

TEST(SingularValues, AreTheDiagonalOfKnownFactors) {
  for (const SpectrumAccuracy accuracy : kBoth) {
    for (const std::int64_t n : {1, 5, 64, 197}) {
      // The values fall from 1 to 1e-6, like in a map that decays.
      Eigen::VectorXd diagonal(n);
      for (std::int64_t t = 0; t < n; ++t) {
        diagonal(t) = std::pow(10.0, -6.0 * static_cast<double>(t) / static_cast<double>(n));
      }
      MatrixD map = orthogonal(n, 1) * diagonal.asDiagonal() * orthogonal(n, 2).transpose();
      const SingularValues found = singular_values(map, accuracy);
      for (std::int64_t t = 0; t < n; ++t) {
        // The Gram matrix loses half the digits of a small value, but not of its share.
        const double tolerance =
            accuracy == SpectrumAccuracy::every_value ? 1e-13 : 1e-13 / diagonal(t);
        ASSERT_NEAR(found.values[static_cast<std::size_t>(t)], diagonal(t), tolerance);
      }
    }
  }
}

TEST(SingularValues, AreKnownForSpecialMaps) {
  for (const SpectrumAccuracy accuracy : kBoth) {
    MatrixD identity = MatrixD::Identity(31, 31);
    for (const double value : singular_values(identity, accuracy).values) {
      EXPECT_NEAR(value, 1, 1e-14);
    }
    MatrixD rotation = orthogonal(33, 3);
    for (const double value : singular_values(rotation, accuracy).values) {
      EXPECT_NEAR(value, 1, 1e-13);
    }
    // Every query attends alike: the rank is one, and σ_1 = √N ‖row‖.
    MatrixD rank_one = MatrixD::Constant(197, 197, 1.0 / 197);
    const std::vector<double> values = singular_values(rank_one, accuracy).values;
    EXPECT_NEAR(values[0], 1, 1e-13);
    EXPECT_EQ(equivalent_rank(values, 0.99999), 1);
    MatrixD wide = MatrixD::Zero(3, 50);
    wide(0, 7) = 3;
    wide(1, 0) = 2;
    wide(2, 49) = -1;
    const std::vector<double> of_wide = singular_values(wide, accuracy).values;
    ASSERT_EQ(of_wide.size(), 3U);
    for (std::size_t t = 0; t < 3; ++t)
      EXPECT_NEAR(of_wide[t], 3.0 - static_cast<double>(t), 1e-14);
  }
}

std::vector<double> values_by_lapack(MatrixD matrix) {
  const auto n = static_cast<lapack_int>(matrix.rows());
  std::vector<double> values(static_cast<std::size_t>(n));
  EXPECT_EQ(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', n, n, matrix.data(), n, values.data(), nullptr, 1,
                           nullptr, 1),
            0);
  return values;
}

void expect_as_by_lapack(const MatrixD& matrix) {
  const std::vector<double> expected = values_by_lapack(matrix);
  MatrixD copy = matrix;
  const SingularValues every = singular_values(copy, SpectrumAccuracy::every_value);
  copy = matrix;
  const SingularValues cumulative = singular_values(copy, SpectrumAccuracy::cumulative);
  ASSERT_TRUE(every.converged && cumulative.converged);
  ASSERT_EQ(every.values.size(), expected.size());
  const double tolerance = static_cast<double>(matrix.rows() + 8) * 0x1p-53 * expected[0];
  for (std::size_t t = 0; t < expected.size(); ++t) {
    ASSERT_NEAR(every.values[t], expected[t], tolerance);
  }
  const std::vector<double> share = cumulative_share(expected);
  const std::vector<double> found = cumulative_share(cumulative.values);
  ASSERT_EQ(found.size(), share.size());
  for (std::size_t t = 0; t < share.size(); ++t) ASSERT_NEAR(found[t], share[t], 1e-5 * share[t]);
}

TEST(SingularValues, AreThoseOfLapack) {
  for (const std::int64_t n : {1, 2, 3, 50, 197, 577}) {
    const MatrixD random = random_normal({n, n}, 11).matrix().cast<double>();
    expect_as_by_lapack(random);
    expect_as_by_lapack(kernel_map(n, 3, 2, 12).matrix().cast<double>());
    const Eigen::Index few = std::min<Eigen::Index>(n, 5);
    expect_as_by_lapack(random.leftCols(few) * random.topRows(few));
    Eigen::VectorXd grades(n);
    for (Eigen::Index i = 0; i < n; ++i) grades(i) = std::exp(-0.2 * static_cast<double>(i));
    expect_as_by_lapack(grades.asDiagonal() * random);
    expect_as_by_lapack(random * grades.asDiagonal());
    for (const double scale : {1e-20, 1e20, 1e-200, 1e200, 1e-305}) {
      expect_as_by_lapack(scale * random);
    }
    MatrixD nothing = MatrixD::Zero(n, n);
    for (const double value : singular_values(nothing, SpectrumAccuracy::every_value).values) {
      EXPECT_EQ(value, 0);
    }
  }
}

TEST(SingularValues, AreNoneForNonFiniteMatrices) {
  for (const SpectrumAccuracy accuracy : kBoth) {
    for (const double wrong :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      MatrixD map = MatrixD::Identity(9, 9);
      map(4, 7) = wrong;
      const SingularValues found = singular_values(map, accuracy);
      EXPECT_FALSE(found.converged);
      EXPECT_TRUE(found.values.empty());
    }
  }
}

TEST(SingularValues, DoNotShareTheProductWhenIdentityCancelsAMap) {
  for (const std::int64_t n : {1, 17, 40}) {
    const MatrixD rest = 1e-9 * random_normal({n, n}, 8).matrix().cast<double>();
    MatrixD map = rest - MatrixD::Identity(n, n);
    MatrixD sum = map;
    sum.diagonal().array() += 1;
    const std::vector<double> expected = singular_values(sum, SpectrumAccuracy::every_value).values;
    const std::vector<double> found =
        singular_values_without_and_with_identity(map, SpectrumAccuracy::cumulative)[1].values;
    const std::vector<double> share = cumulative_share(found);
    const std::vector<double> exact = cumulative_share(expected);
    ASSERT_EQ(share.size(), exact.size());
    for (std::size_t r = 0; r < share.size(); ++r) ASSERT_NEAR(share[r], exact[r], 1e-5 * exact[r]);
    EXPECT_NEAR(found.front(), expected.front(), 1e-5 * expected.front());
  }
}

TEST(SingularValues, UseTheAccurateMethodForNearlyRankOneMaps) {
  // 785 rows that are equal up to rounding in float32: as far from full rank as a map can be.
  const Tensor row = random_normal({1, 785}, 5);
  MatrixD map(785, 785);
  for (std::int64_t i = 0; i < 785; ++i) {
    map.row(i) =
        row.matrix().row(0).cast<double>().array().abs() * (1.0 + 1e-9 * static_cast<double>(i));
  }
  MatrixD copy = map;
  const std::vector<double> accurate = singular_values(copy, SpectrumAccuracy::every_value).values;
  EXPECT_GT(gram_share_error(accurate), 5e-6);
  const std::vector<double> found = singular_values(map, SpectrumAccuracy::cumulative).values;
  const double total = cumulative_share(accurate).front();
  EXPECT_NEAR(cumulative_share(found).front(), total, 1e-12);
}

TEST(SingularValues, ErrorBoundOfTheGramMatrixHolds) {
  for (const std::int64_t power : {1, 5, 40, 400}) {
    for (const std::int64_t n : {3, 32, 197}) {
      const Tensor map = kernel_map(n, 2, power, 77);
      const MatrixD matrix = map.matrix().cast<double>();
      MatrixD copy = matrix;
      const std::vector<double> accurate =
          singular_values(copy, SpectrumAccuracy::every_value).values;
      copy = matrix;
      const std::vector<double> found = singular_values(copy, SpectrumAccuracy::cumulative).values;
      const double bound = 6 * std::sqrt(static_cast<double>(n)) * 0x1p-53;
      for (std::size_t t = 0; t < found.size(); ++t) {
        EXPECT_LE(std::abs(found[t] * found[t] - accurate[t] * accurate[t]),
                  bound * accurate[0] * accurate[0]);
      }
    }
  }
}

TEST(SingularValues, ErrorBoundOfTheGramMatrixHoldsForManyAtOnce) {
  for (const std::int64_t n : {3, 32, 197}) {
    std::vector<std::vector<double>> accurate;
    std::vector<TwoDiagonals> products;
    for (const std::int64_t power : {1, 5, 40, 400}) {
      const MatrixD map = kernel_map(n, 2, power, 77).matrix().cast<double>();
      MatrixD copy = map, sum = map + MatrixD::Identity(n, n);
      accurate.push_back(singular_values(copy, SpectrumAccuracy::every_value).values);
      accurate.push_back(singular_values(sum, SpectrumAccuracy::every_value).values);
      const auto both = condensed_products_without_and_with_identity(map);
      ASSERT_TRUE(both);
      products.insert(products.end(), both->begin(), both->end());
      const std::optional<TwoDiagonals> alone = condensed_product(map);
      ASSERT_TRUE(alone);
      EXPECT_EQ(alone->diagonal, both->front().diagonal);
    }
    std::vector<const TwoDiagonals*> pointers;
    for (const TwoDiagonals& one : products) pointers.push_back(&one);
    const std::vector<SingularValues> found = values_of_products(pointers);
    const double bound = 6 * std::sqrt(static_cast<double>(n)) * 0x1p-53;
    for (std::size_t m = 0; m < found.size(); ++m) {
      ASSERT_TRUE(found[m].converged);
      // The product of the pair's second map is a sum of numbers as large as this one.
      const double greatest = m % 2 == 0 ? accurate[m][0] : accurate[m - 1][0] + 1;
      for (std::size_t t = 0; t < accurate[m].size(); ++t) {
        EXPECT_LE(std::abs(std::pow(found[m].values[t], 2) - std::pow(accurate[m][t], 2)),
                  bound * greatest * greatest);
      }
    }
  }
  EXPECT_FALSE(condensed_product(MatrixD::Constant(3, 3, 1e200)));
}

}  // namespace
}  // namespace attnscope
