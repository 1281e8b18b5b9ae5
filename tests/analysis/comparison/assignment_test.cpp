#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "analysis/comparison/alignment.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

double cost_of(const MatrixD& costs, const std::vector<std::int64_t>& columns) {
  double sum = 0;
  for (std::size_t row = 0; row < columns.size(); ++row) {
    if (columns[row] >= 0) sum += costs(static_cast<Eigen::Index>(row), columns[row]);
  }
  return sum;
}

/// The least sum of costs over all one-to-one assignments, by brute force.
double least_of_all(MatrixD costs) {
  if (costs.rows() > costs.cols()) costs = costs.transpose().eval();
  std::vector<Eigen::Index> columns(static_cast<std::size_t>(costs.cols()));
  std::iota(columns.begin(), columns.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (Eigen::Index row = 0; row < costs.rows(); ++row) {
      sum += costs(row, columns[static_cast<std::size_t>(row)]);
    }
    least = std::min(least, sum);
  } while (std::next_permutation(columns.begin(), columns.end()));
  return least;
}

void expect_one_to_one(const MatrixD& costs, const std::vector<std::int64_t>& columns) {
  ASSERT_EQ(std::ssize(columns), costs.rows());
  std::set<std::int64_t> used;
  for (const std::int64_t column : columns) {
    ASSERT_LT(column, costs.cols());
    if (column >= 0) {
      EXPECT_TRUE(used.insert(column).second);
    }
  }
  EXPECT_EQ(std::ssize(used), std::min(costs.rows(), costs.cols()));
}

TEST(Assignment, HasTheLeastSumOfAllPermutations) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const int rows = 1 + static_cast<int>(random() % 7),
              columns = 1 + static_cast<int>(random() % 7);
    MatrixD costs(rows, columns);
    for (Eigen::Index i = 0; i < costs.size(); ++i) {
      // The few different values produce many ties, and some are below zero.
      costs.data()[i] = static_cast<double>(random() % 9) - 2;
    }
    const auto chosen = least_assignment(costs);
    expect_one_to_one(costs, chosen);
    EXPECT_DOUBLE_EQ(cost_of(costs, chosen), least_of_all(costs)) << costs;
    EXPECT_EQ(chosen, least_assignment(costs));
  }
}

TEST(Assignment, AgreesWithSciPy) {
  std::ifstream file(source_folder() + "/tests/data/comparison/comparison.json");
  const auto data = nlohmann::json::parse(file);
  for (const auto& one : data.at("assignments")) {
    const auto rows = one.at("costs").get<std::vector<std::vector<double>>>();
    MatrixD costs(std::ssize(rows), std::ssize(rows[0]));
    for (Eigen::Index r = 0; r < costs.rows(); ++r) {
      for (Eigen::Index c = 0; c < costs.cols(); ++c) {
        costs(r, c) = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
      }
    }
    EXPECT_NEAR(cost_of(costs, least_assignment(costs)), one.at("least").get<double>(), 1e-12);
  }
}

TEST(Assignment, UndoesAPermutation) {
  const std::vector<std::int64_t> permutation = {3, 0, 4, 1, 2};
  MatrixD costs = MatrixD::Ones(5, 5);
  for (std::size_t row = 0; row < 5; ++row) {
    costs(static_cast<Eigen::Index>(row), permutation[row]) = 0;
  }
  EXPECT_EQ(least_assignment(costs), permutation);
  EXPECT_TRUE(least_assignment(MatrixD(0, 3)).empty());
  EXPECT_EQ(least_assignment(MatrixD(2, 0)), (std::vector<std::int64_t>{-1, -1}));
}

}  // namespace
}  // namespace attnscope
