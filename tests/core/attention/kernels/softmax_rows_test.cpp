#include "core/attention/kernels/softmax_rows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

void softmax(Tensor& scores) {
  softmax_rows(
      {scores.data(), scores.extent(0), scores.extent(1), Eigen::OuterStride<>(scores.extent(1))});
}

class SoftmaxRowsSizes : public testing::TestWithParam<std::int64_t> {};

TEST_P(SoftmaxRowsSizes, EqualsTheNaiveSoftmax) {
  const std::int64_t columns = GetParam();
  Tensor scores = random_normal({3, columns}, 11);
  for (float& score : scores.values()) score *= 10;
  NaiveMap expected;
  for (std::int64_t i = 0; i < 3; ++i) {
    expected.emplace_back(scores.data() + i * columns, scores.data() + (i + 1) * columns);
  }
  expected = naive_softmax(std::move(expected));
  softmax(scores);
  // The rounded difference s − max (|s − max| < 100) shifts the exponential by 100 · 2⁻²⁴. The
  // exponential is right to 2 units, and a lane sums n/4 terms.
  const double tolerance = (100 + 4 + static_cast<double>(columns)) * 0x1p-24;
  for (std::int64_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double value = scores.matrix()(i, j);
      const double reference = expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      ASSERT_NEAR(value, reference, tolerance * reference + 1e-37);
      sum += value;
    }
    EXPECT_NEAR(sum, 1, tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Awkward, SoftmaxRowsSizes,
                         testing::Values(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 197, 785));

TEST(SoftmaxRows, DoesNotOverflow) {
  Tensor scores({1, 20}, std::vector<float>(20, 3e38F));
  softmax(scores);
  for (const float value : scores.values()) EXPECT_FLOAT_EQ(value, 0.05F);
}

TEST(SoftmaxRows, GivesMaskedEntriesNoWeight) {
  for (const std::int64_t masked : {0, 5, 18}) {
    Tensor scores({1, 19});
    scores.data()[masked] = -kInfinite;
    softmax(scores);
    for (std::int64_t j = 0; j < 19; ++j) {
      EXPECT_FLOAT_EQ(scores.data()[j], j == masked ? 0.0F : 1.0F / 18);
    }
  }
}

TEST(SoftmaxRows, GivesNaNForRowsWithoutASoftmax) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinite}) {
    for (const std::int64_t where : {0, 3, 18}) {
      Tensor scores({3, 19});
      scores.data()[19 + where] = bad;
      softmax(scores);
      for (std::int64_t j = 0; j < 19; ++j) {
        EXPECT_FLOAT_EQ(scores.matrix()(0, j), 1.0F / 19);
        EXPECT_TRUE(std::isnan(scores.matrix()(1, j)));
        EXPECT_FLOAT_EQ(scores.matrix()(2, j), 1.0F / 19);
      }
    }
  }
  Tensor nothing({1, 5}, std::vector<float>(5, -kInfinite));
  softmax(nothing);
  for (const float value : nothing.values()) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace attnscope
