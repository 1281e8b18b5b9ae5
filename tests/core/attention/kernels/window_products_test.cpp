#include "core/attention/kernels/window_products.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(WindowProducts, AreAddedForEveryTokenAndChannel) {
  for (const std::int64_t tokens : {1, 3, 8, 21}) {
    for (const std::int64_t count : {1, 5, 63}) {
      const Tensor x = random_normal({tokens + count - 1, kWindowChannels}, 1);
      const Tensor taps = random_normal({count, kWindowChannels}, 2);
      const Tensor before = random_normal({tokens, kWindowChannels}, 3);
      Tensor sums = before;
      add_window_products(x.data(), tokens, taps.data(), count, sums.data());
      for (std::int64_t t = 0; t < tokens; ++t) {
        for (std::int64_t c = 0; c < kWindowChannels; ++c) {
          double expected = static_cast<double>(before.matrix()(t, c));
          for (std::int64_t s = 0; s < count; ++s) {
            expected += static_cast<double>(taps.matrix()(s, c)) *
                        static_cast<double>(x.matrix()(t + s, c));
          }
          ASSERT_NEAR(sums.matrix()(t, c), expected, 2e-5);
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
