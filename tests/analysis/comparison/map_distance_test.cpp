#include "analysis/comparison/map_distance.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "core/error.h"
#include "tests/support/eigen_decompositions.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

const nlohmann::json& reference_data() { return read_test_data("comparison/comparison.json"); }

MatrixD matrix_of(const nlohmann::json& rows) {
  MatrixD matrix(std::ssize(rows), std::ssize(rows.at(0)));
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      matrix(r, c) = rows.at(static_cast<std::size_t>(r)).at(static_cast<std::size_t>(c));
    }
  }
  return matrix;
}

std::vector<double> singular_values_of(MatrixD matrix) {
  return singular_values(matrix, SpectrumAccuracy::every_value).values;
}

MatrixD random_map(std::mt19937& random, int rows, int columns) {
  MatrixD map(rows, columns);
  for (Eigen::Index i = 0; i < map.size(); ++i) {
    map.data()[i] = std::exp(std::normal_distribution<double>()(random));
  }
  map.array().colwise() /= map.rowwise().sum().array().eval();
  return map;
}

TEST(MapDistance, AgreesWithNumPyAndSciPy) {
  for (const auto& pair : reference_data().at("pairs")) {
    SCOPED_TRACE(pair.at("name").get<std::string>());
    const MatrixD a = matrix_of(pair.at("a")), b = matrix_of(pair.at("b"));
    const MapDistance distance = map_distance(a, b);
    double sum = 0, largest = 0;
    std::int64_t rows = 0;
    for (std::size_t row = 0; row < distance.row_divergence.size(); ++row) {
      const auto& expected = pair.at("rows").at(row);
      if (expected.is_null()) {
        EXPECT_TRUE(std::isnan(distance.row_divergence[row]));
        continue;
      }
      EXPECT_NEAR(distance.row_divergence[row], expected.get<double>(), 1e-12);
      sum += expected.get<double>();
      largest = std::max(largest, expected.get<double>());
      ++rows;
    }
    EXPECT_EQ(distance.rows_left_out, std::ssize(distance.row_divergence) - rows);
    EXPECT_NEAR(distance.mean_divergence, sum / static_cast<double>(rows), 1e-12);
    EXPECT_NEAR(distance.largest_divergence, largest, 1e-12);
    EXPECT_NEAR(distance.row_divergence[static_cast<std::size_t>(distance.largest_row)], largest,
                1e-12);
    EXPECT_NEAR(distance.cosine_distance, pair.at("cosine").get<double>(), 1e-12);
    EXPECT_NEAR(distance.frobenius_distance, pair.at("frobenius").get<double>(), 1e-12);
    EXPECT_NEAR(distance.relative_frobenius, pair.at("relative").get<double>(), 1e-12);
    const auto values = singular_values_of(a), other = singular_values_of(b);
    EXPECT_NEAR(spectrum_distance(cumulative_share(values), cumulative_share(other)),
                pair.at("spectrum").get<double>(), 1e-10);
    EXPECT_NEAR(singular_value_distance(values, other), pair.at("singular_values").get<double>(),
                1e-10);
    EXPECT_EQ(distance.rows_with_negatives > 0, pair.at("name") == "negative");
  }
}

TEST(MapDistance, SpectraOfDifferentLengthAgreeWithNumPy) {
  const auto data = reference_data();
  const auto shares = data.at("shares").get<std::vector<std::vector<double>>>();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (std::size_t j = 0; j < shares.size(); ++j) {
      EXPECT_NEAR(spectrum_distance(shares[i], shares[j]),
                  data.at("areas").at(i).at(j).get<double>(), 1e-12);
    }
  }
}

TEST(MapDistance, IsZeroForEqualMapsAndSymmetric) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    const MatrixD a = random_map(random, 6, 8), b = random_map(random, 6, 8);
    const MapDistance same = map_distance(a, a), there = map_distance(a, b),
                      back = map_distance(b, a);
    EXPECT_EQ(same.mean_divergence, 0);
    EXPECT_NEAR(same.cosine_distance, 0, 1e-15);
    EXPECT_EQ(same.frobenius_distance, 0);
    EXPECT_DOUBLE_EQ(there.mean_divergence, back.mean_divergence);
    EXPECT_DOUBLE_EQ(there.cosine_distance, back.cosine_distance);
    EXPECT_GT(there.mean_divergence, 0);
    EXPECT_LT(there.largest_divergence, 1);
    EXPECT_DOUBLE_EQ(mean_row_divergence(a, b), there.mean_divergence);
    // Mirsky 1960: the distance of the singular values is at most that of the maps.
    EXPECT_LE(singular_value_distance(singular_values_of(a), singular_values_of(b)),
              there.frobenius_distance + 1e-12);
    // The square root of the divergence is a metric, so that it satisfies the triangle inequality.
    const MatrixD c = random_map(random, 6, 8);
    const MapDistance first = map_distance(a, c), second = map_distance(c, b);
    for (std::size_t row = 0; row < 6; ++row) {
      EXPECT_LE(
          std::sqrt(there.row_divergence[row]),
          std::sqrt(first.row_divergence[row]) + std::sqrt(second.row_divergence[row]) + 1e-12);
    }
  }
}

TEST(MapDistance, RowsWithoutACommonKeyAreOneBitApart) {
  const std::vector<double> row = {0.5, 0.5, 0, 0}, other = {0, 0, 2, 0};
  EXPECT_DOUBLE_EQ(row_divergence(row, other).bits, 1);
  EXPECT_TRUE(std::isnan(row_divergence(row, std::vector<double>(4)).bits));
  // Rows are normalised before they are compared: the sum of a row with I is 2.
  EXPECT_DOUBLE_EQ(row_divergence(row, std::vector<double>{1, 1, 0, 0}).bits, 0);
}

TEST(MapDistance, DifferentSizesAreRefusedWithBoth) {
  const Error error =
      refusal_of([&] { (void)map_distance(MatrixD::Ones(3, 3), MatrixD::Ones(3, 4)); });
  EXPECT_NE(std::string(error.what()).find("3 × 4"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("3 × 3"), std::string::npos) << error.what();
  EXPECT_TRUE(std::isnan(
      singular_value_distance(std::vector<double>(3, 1.0), std::vector<double>(4, 1.0))));
}

TEST(Representation, LinearCkaAgreesWithNumPy) {
  for (const auto& one : reference_data().at("representations")) {
    const Matrix x = matrix_of(one.at("x")).cast<float>(), y = matrix_of(one.at("y")).cast<float>();
    const ConstMatrixMap x_map(x.data(), x.rows(), x.cols()), y_map(y.data(), y.rows(), y.cols());
    EXPECT_NEAR(linear_cka(x_map, y_map), one.at("cka").get<double>(), 1e-12);
    EXPECT_NEAR(linear_cka(x_map, x_map), 1, 1e-12);
  }
}

TEST(Representation, CkaDoesNotSeeRotationsScalesAndShifts) {
  std::mt19937 random(8);
  const Matrix x = random_map(random, 20, 6).cast<float>();
  const MatrixD square = random_map(random, 6, 6);
  const MatrixD rotation = orthogonal_factor_by_eigen(square);
  const Matrix y = ((3 * x.cast<double>() * rotation).array() + 5).matrix().cast<float>();
  const ConstMatrixMap x_map(x.data(), 20, 6), y_map(y.data(), 20, 6);
  EXPECT_NEAR(linear_cka(x_map, y_map), 1, 1e-5);
  const Matrix flat = Matrix::Ones(20, 6);
  EXPECT_TRUE(std::isnan(linear_cka(x_map, ConstMatrixMap(flat.data(), 20, 6))));
  EXPECT_THROW((void)linear_cka(x_map, ConstMatrixMap(flat.data(), 10, 6)), Error);
}

}  // namespace
}  // namespace attnscope
