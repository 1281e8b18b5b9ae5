#include "core/attention/kernels/l1_distance.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

ConstStridedMatrixMap strided(const Tensor& tensor, std::int64_t first, std::int64_t columns) {
  return {tensor.data() + first, tensor.extent(0), columns, Eigen::OuterStride<>(tensor.extent(1))};
}

struct Sizes {
  std::int64_t m, n, k;
};

class L1DistanceSizes : public testing::TestWithParam<Sizes> {};

TEST_P(L1DistanceSizes, EqualsTheNaiveSum) {
  const auto [m, n, k] = GetParam();
  const Tensor left = random_normal({m, k + 3}, 1);
  const Tensor right = random_normal({n, k + 5}, 2);
  const auto a = strided(left, 2, k);
  const auto b = strided(right, 1, k);
  const std::int64_t stride = n + 7;
  Tensor result({m, stride}, std::vector<float>(static_cast<std::size_t>(m * stride), -7.0F));
  constexpr float kScale = -0.25F;
  l1_distances(a, PackedRows(b), kScale, {result.data(), m, n, Eigen::OuterStride<>(stride)});
  // One difference and k additions of non-negative terms are each rounded to 2⁻²⁴.
  const double tolerance = static_cast<double>(k + 2) * 0x1p-24;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double expected = kScale * naive_l1_distance(a, i, b, j);
      ASSERT_NEAR(result.matrix()(i, j), expected, tolerance * std::abs(expected) + 1e-30)
          << i << ", " << j;
    }
    for (std::int64_t j = n; j < stride; ++j) {
      ASSERT_EQ(result.matrix()(i, j), -7.0F) << "written beyond the columns";
    }
  }
}

// Sizes around the lanes (4, 8, 16), the panel (32), the query tiles (4, 8) and the column block
// (256).
INSTANTIATE_TEST_SUITE_P(Awkward, L1DistanceSizes,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 7, 3}, Sizes{3, 8, 4},
                                         Sizes{4, 9, 5}, Sizes{5, 15, 7}, Sizes{7, 16, 8},
                                         Sizes{8, 17, 9}, Sizes{9, 23, 15}, Sizes{12, 24, 16},
                                         Sizes{13, 25, 17}, Sizes{16, 31, 31}, Sizes{17, 32, 32},
                                         Sizes{33, 33, 33}, Sizes{2, 40, 255}, Sizes{3, 41, 256},
                                         Sizes{11, 63, 257}, Sizes{6, 64, 513}, Sizes{197, 197, 64},
                                         Sizes{65, 785, 48}, Sizes{785, 65, 19}));

TEST(L1Distance, IsZeroForNoColumns) {
  const Tensor empty({3, 0});
  Tensor result({3, 3}, std::vector<float>(9, 1.0F));
  l1_distances(strided(empty, 0, 0), PackedRows(strided(empty, 0, 0)), 1.0F,
               {result.data(), 3, 3, Eigen::OuterStride<>(3)});
  for (const float value : result.values()) EXPECT_EQ(value, 0.0F);
}

TEST(L1Distance, IsExactlyTheSumInOrderInFloat) {
  const std::int64_t k = 300;
  const Tensor a = random_normal({5, k}, 3);
  const Tensor b = random_normal({37, k}, 4);
  Tensor result({5, 37});
  l1_distances(strided(a, 0, k), PackedRows(strided(b, 0, k)), 1.0F,
               {result.data(), 5, 37, Eigen::OuterStride<>(37)});
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 37; ++j) {
      float sum = 0;
      for (std::int64_t c = 0; c < k; ++c) {
        const float difference = a.matrix()(i, c) - b.matrix()(j, c);
        sum += std::abs(difference);
      }
      ASSERT_EQ(result.matrix()(i, j), sum) << "so every CPU gives the same bytes";
    }
  }
}

TEST(AdderLinear, IsMinusTheDistancePlusTheBias) {
  const Tensor x = random_normal({130, 50}, 5);
  const Tensor weights = random_normal({37, 50}, 6);
  const Tensor bias = random_normal({37}, 7);
  const PackedRows packed(strided(weights, 0, 50));
  const Tensor y = adder_linear(strided(x, 0, 50), packed, bias.values());
  ASSERT_EQ(y.shape(), (Shape{130, 37}));
  for (std::int64_t n = 0; n < 130; ++n) {
    for (std::int64_t o = 0; o < 37; ++o) {
      const double distance = naive_l1_distance(strided(x, 0, 50), n, strided(weights, 0, 50), o);
      const double expected = -distance + static_cast<double>(bias.data()[o]);
      ASSERT_NEAR(y.matrix()(n, o), expected, 53 * 0x1p-24 * (distance + 4));
    }
  }
}

TEST(AdderLinear, RefusesWidthsThatDoNotFit) {
  const Tensor x({2, 3});
  const Tensor weights({4, 5});
  const std::vector<float> bias(3);
  EXPECT_THROW((void)adder_linear(strided(x, 0, 3), PackedRows(strided(weights, 0, 5))), Error);
  EXPECT_THROW((void)adder_linear(strided(x, 0, 3), PackedRows(strided(weights, 0, 3)), bias),
               Error);
}

}  // namespace
}  // namespace attnscope
