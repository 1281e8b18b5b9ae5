#include "core/attention/kernels/running_sums.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(RunningSums, MeansFollowFromWhatEachTokenKeepsAndAdds) {
  constexpr std::int64_t kTokens = 9, kStride = 50, kOutStride = 47;
  const Tensor values = random_normal({kTokens, kStride}, 1);
  std::vector<RunningWeight> weights;
  for (int j = 0; j < kTokens; ++j) weights.push_back({1.0 / (1 + j % 3), 0.5 + j});
  for (const std::int64_t channels : {1, 7, 8, 32, 45}) {
    std::vector<float> out(kTokens * kOutStride, -1);
    running_means(weights.data(), kTokens, values.data(), kStride, channels, out.data(),
                  kOutStride);
    for (std::int64_t c = 0; c < kOutStride; ++c) {
      double sum = 0, total = 0;
      for (std::int64_t j = 0; j < kTokens; ++j) {
        const RunningWeight& one = weights[static_cast<std::size_t>(j)];
        sum = one.keep * sum + one.weight * static_cast<double>(values.matrix()(j, c));
        total = one.keep * total + one.weight;
        const float found = out[static_cast<std::size_t>(j * kOutStride + c)];
        if (c < channels) {
          ASSERT_FLOAT_EQ(found, static_cast<float>(sum / total));
        } else {
          ASSERT_EQ(found, -1) << "belongs to another head";
        }
      }
    }
  }
}

TEST(RunningSums, ProductsWithADirectionAndSumsAreThoseOfLoops) {
  const Tensor rows = random_normal({5, 60}, 2);
  for (const std::int64_t channels : {1, 8, 37, 60}) {
    std::vector<double> direction, found(5), sums(60, 0.25);
    for (std::int64_t c = 0; c < channels; ++c) direction.push_back(0.1 * static_cast<double>(c));
    project(direction.data(), channels, rows.data(), 60, 5, found.data());
    for (std::int64_t j = 0; j < 5; ++j) {
      double expected = 0;
      for (std::int64_t c = 0; c < channels; ++c) {
        expected +=
            direction[static_cast<std::size_t>(c)] * static_cast<double>(rows.matrix()(j, c));
      }
      ASSERT_NEAR(found[static_cast<std::size_t>(j)], expected, 1e-12);
    }
    add_weighted(3, rows.data(), channels, sums.data());
    std::vector<float> one(60), both(60);
    scale(sums.data(), 2, nullptr, 0, channels, one.data());
    scale(sums.data(), 2, direction.data(), -1, channels, both.data());
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(c);
      ASSERT_NEAR(sums[at], 0.25 + 3 * static_cast<double>(rows.data()[c]), 1e-12);
      ASSERT_FLOAT_EQ(one[at], static_cast<float>(2 * sums[at]));
      ASSERT_FLOAT_EQ(both[at], static_cast<float>(2 * sums[at] - direction[at]));
    }
  }
}

}  // namespace
}  // namespace attnscope
