#include "analysis/spectrum/map_entries.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(MapEntries, AreCountedAndSummedWhateverTheWidth) {
  for (const std::int64_t columns : {1, 2, 3, 7, 8, 9, 17, 197}) {
    MatrixD map = random_normal({5, columns}, 3).matrix().cast<double>();
    map.row(2).setZero();
    map(4, columns - 1) = -1e3;  // in the last lanes
    const MapEntries found = entries_of(map);
    EXPECT_EQ(found.not_finite, 0);
    EXPECT_EQ(found.zero_rows, 1);
    EXPECT_EQ(found.largest, 1e3);
    EXPECT_NEAR(found.squares, map.squaredNorm(), 1e-14 * map.squaredNorm());
    map(0, columns - 1) = std::numeric_limits<double>::quiet_NaN();
    map(1, 0) = -std::numeric_limits<double>::infinity();
    map(2, columns / 2) = std::numeric_limits<double>::infinity();
    EXPECT_EQ(entries_of(map).not_finite, 3);
    EXPECT_EQ(entries_of(map).zero_rows, 0);
  }
}

TEST(MapEntries, OfNothingAreNothing) {
  EXPECT_EQ(entries_of(MatrixD(0, 4)).zero_rows, 0);
  EXPECT_EQ(entries_of(MatrixD(3, 0)).zero_rows, 3);
}

}  // namespace
}  // namespace attnscope
