// Maps stored as the blocks of windows.
#include "core/trace/implied_maps.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

/// Two heads over the windows {0, 2, 5}, {4, 1} and {3}, with consecutive numbers as entries.
MapBlocks counted_blocks() {
  MapBlocks blocks(2, {{0, 2, 5}, {4, 1}, {3}});
  float next = 1;
  for (float& entry : blocks.entries()) entry = next++;
  return blocks;
}

TEST(ImpliedMaps, BlocksAreTheMapOverAllTokens) {
  const ImpliedMaps maps(counted_blocks());
  ASSERT_EQ(maps.shape(), (Shape{2, 6, 6}));
  EXPECT_EQ(maps.bytes(), 2 * (9 + 4 + 1) * 4);
  Matrix expected = Matrix::Zero(6, 6);
  expected(0, 0) = 1, expected(0, 2) = 2, expected(0, 5) = 3;
  expected(2, 0) = 4, expected(2, 2) = 5, expected(2, 5) = 6;
  expected(5, 0) = 7, expected(5, 2) = 8, expected(5, 5) = 9;
  expected(4, 4) = 10, expected(4, 1) = 11, expected(1, 4) = 12, expected(1, 1) = 13;
  expected(3, 3) = 14;
  EXPECT_EQ(maps.head(0), expected);
  const Tensor all = maps.all();
  for (std::int64_t head = 0; head < 2; ++head) {
    EXPECT_EQ(maps.head(head), all.slice(head));
    for (std::int64_t query = 0; query < 6; ++query) {
      EXPECT_EQ(maps.row(head, query), all.slice(head).row(query));
      std::vector<float> part(3, -1);
      maps.row(head, query, 2, part);
      for (std::int64_t key = 0; key < 6; ++key) {
        EXPECT_EQ(maps.at(head, query, key), all.slice(head)(query, key));
        if (key < 2 || key > 4) continue;
        EXPECT_EQ(part[static_cast<std::size_t>(key - 2)], all.slice(head)(query, key));
      }
    }
  }
}

TEST(ImpliedMaps, WholeOnesAreReadInTheSameWay) {
  Tensor tensor({2, 3, 4});
  float next = 1;
  for (float& value : tensor.values()) value = next++;
  const ImpliedMaps maps(tensor);
  EXPECT_EQ(maps.blocks(), nullptr);
  EXPECT_EQ(maps.bytes(), 24 * 4);
  EXPECT_EQ(maps.head(1), tensor.slice(1));
  EXPECT_EQ(maps.row(1, 2), tensor.slice(1).row(2));
  EXPECT_EQ(maps.at(1, 2, 3), 24);
  std::vector<float> part(2);
  maps.row(1, 2, 1, part);
  EXPECT_EQ(part, (std::vector<float>{22, 23}));
}

TEST(ImpliedMaps, DiagonalsAreThoseOfTheWholeMap) {
  ImpliedMaps maps(counted_blocks());
  const Matrix before = maps.head(1);
  maps.add_to_diagonals(-1);
  EXPECT_EQ(maps.head(1), Matrix(before - Matrix::Identity(6, 6)));
}

TEST(ImpliedMaps, BlocksAreNotWholeMaps) {
  const ImpliedMaps maps(counted_blocks());
  EXPECT_THROW((void)maps.whole(), Error);
  EXPECT_THROW((void)maps.values(), Error);
  EXPECT_FALSE(maps.empty());
  EXPECT_TRUE(ImpliedMaps().empty());
}

TEST(ImpliedMaps, EachTokenIsInOneBlock) {
  using Partition = std::vector<std::vector<std::int64_t>>;
  for (const Partition& bad : {Partition{{0, 1}, {1}}, Partition{{0, 3}, {1}}, Partition{{-1}}}) {
    EXPECT_THROW(MapBlocks(1, bad), Error);
  }
}

}  // namespace
}  // namespace attnscope
