#include "core/input/item_choice.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "core/error.h"

namespace attnscope {
namespace {

TEST(ItemChoice, GivesEveryStretchOfTheSetItsShare) {
  // Ten classes of a thousand items follow each other, like in class folders: fifty of each are
  // chosen.
  const std::vector<std::int64_t> items = chosen_items(10'000, {500});
  ASSERT_EQ(items.size(), 500U);
  std::vector<int> of_class(10);
  for (const std::int64_t item : items) ++of_class[static_cast<std::size_t>(item / 1000)];
  EXPECT_EQ(of_class, std::vector<int>(10, 50));
  EXPECT_TRUE(std::is_sorted(items.begin(), items.end()));
  EXPECT_EQ(std::set<std::int64_t>(items.begin(), items.end()).size(), items.size());
}

TEST(ItemChoice, CoversEveryClassOfSetsThatRepeatTheirClasses) {
  // Classes alternate from 0 to 9: every twentieth item would always be of the same class.
  std::vector<int> of_class(10);
  for (const std::int64_t item : chosen_items(10'000, {500})) {
    ++of_class[static_cast<std::size_t>(item % 10)];
  }
  // Each class has 50 items up to chance, whose standard deviation is 6.7.
  for (const int count : of_class) EXPECT_NEAR(count, 50, 5 * 6.7);
}

TEST(ItemChoice, DrawsFromRangesUpToTheLastItemWhenTheSizeIsNoMultiple) {
  const std::vector<std::int64_t> begins{0, 2, 5, 8, 11};  // ⌊place · 11 / 4⌋
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::int64_t> items = chosen_items(11, {4, seed});
    ASSERT_EQ(items.size(), 4U);
    for (std::size_t i = 0; i < items.size(); ++i) {
      EXPECT_GE(items[i], begins[i]) << seed;
      EXPECT_LT(items[i], begins[i + 1]) << seed;
    }
  }
}

TEST(ItemChoice, IsReproducibleForASeed) {
  EXPECT_EQ(chosen_items(1000, {10, 3}), chosen_items(1000, {10, 3}));
  EXPECT_NE(chosen_items(1000, {10, 3}), chosen_items(1000, {10, 4}));
  // The expected items are fixed numbers, because files of sweeps store the seed and not the items.
  EXPECT_EQ(chosen_items(1000, {5, 0}), (std::vector<std::int64_t>{135, 300, 479, 644, 947}));
}

TEST(ItemChoice, TakesEveryItemOnRequest) {
  std::vector<std::int64_t> all(7);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t count : {0, 7, 8}) {
    EXPECT_EQ(chosen_items(7, {count, 5}), all);
    EXPECT_EQ(choice_in_words(7, {count, 5}, "images"), "all 7 images");
  }
  EXPECT_EQ(chosen_items(7, {6}).size(), 6U);
  EXPECT_EQ(choice_in_words(7, {6, 5}, "images"), "6 of 7 images, spread evenly (seed 5)");
  EXPECT_TRUE(chosen_items(0, {3}).empty());
  EXPECT_THROW((void)chosen_items(7, {-1}), Error);
}

}  // namespace
}  // namespace attnscope
