#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

TEST(Shape, ProductOfExtentsIsChecked) {
  EXPECT_EQ(element_count({3, 197, 197}), 3 * 197 * 197);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0, std::int64_t{1} << 62, 4}), 0);
  EXPECT_THROW((void)element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  EXPECT_THROW((void)element_count({-1}), Error);
}

TEST(Tensor, RefusesValuesThatDoNotFitItsShape) {
  EXPECT_THROW(Tensor({2, 3}, std::vector<float>(5)), Error);
}

TEST(Tensor, SlicesAreRowMajor) {
  Tensor tensor({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(tensor.slice(1)(1, 2), 11);
  EXPECT_EQ(tensor.matrix().rows(), 4);
  EXPECT_EQ(tensor.matrix()(2, 0), 6);
}

}  // namespace
}  // namespace attnscope
