// Block-diagonal maps: the singular values of the blocks are those of the whole map.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "analysis/spectrum/singular_values.h"
#include "tests/support/eigen_decompositions.h"

namespace attnscope {
namespace {

/// A matrix of blocks with these sizes, its rows and columns permuted.
MatrixD blocks_in_disorder(const std::vector<std::pair<int, int>>& extents) {
  Eigen::Index rows = 0, columns = 0;
  for (const auto& [high, wide] : extents) {
    rows += high;
    columns += wide;
  }
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(0.1, 1);
  MatrixD map = MatrixD::Zero(rows, columns);
  Eigen::Index row = 0, column = 0;
  for (const auto& [high, wide] : extents) {
    map.block(row, column, high, wide) =
        MatrixD::NullaryExpr(high, wide, [&] { return number(random); });
    row += high;
    column += wide;
  }
  std::vector<Eigen::Index> row_order(static_cast<std::size_t>(rows)),
      column_order(static_cast<std::size_t>(columns));
  std::iota(row_order.begin(), row_order.end(), Eigen::Index{0});
  std::iota(column_order.begin(), column_order.end(), Eigen::Index{0});
  std::shuffle(row_order.begin(), row_order.end(), random);
  std::shuffle(column_order.begin(), column_order.end(), random);
  return map(row_order, column_order);
}

TEST(MapBlocks, AreFoundWhateverTheOrder) {
  EXPECT_EQ(blocks_of(blocks_in_disorder({{7, 7}, {7, 7}, {3, 5}})).size(), 3U);
  EXPECT_EQ(blocks_of(blocks_in_disorder({{9, 12}})).size(), 1U);
  MatrixD triangle = blocks_in_disorder({{6, 6}}).triangularView<Eigen::Lower>();
  EXPECT_EQ(blocks_of(triangle).size(), 1U);
}

TEST(MapBlocks, GiveTheSingularValuesOfTheWhole) {
  for (const auto& extents : {std::vector<std::pair<int, int>>{{7, 7}, {7, 7}, {4, 4}},
                              {{5, 9}, {8, 3}},
                              {{4, 4}, {2, 0}, {0, 3}},
                              {{11, 11}}}) {
    MatrixD map = blocks_in_disorder(extents);
    const Eigen::VectorXd expected = svd_by_eigen(map).values;
    const SingularValues found = singular_values_by_blocks(map, SpectrumAccuracy::every_value);
    ASSERT_TRUE(found.converged);
    ASSERT_EQ(std::ssize(found.values), expected.size());
    for (Eigen::Index i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.values[static_cast<std::size_t>(i)], expected[i], 1e-12) << i;
    }
  }
}

}  // namespace
}  // namespace attnscope
