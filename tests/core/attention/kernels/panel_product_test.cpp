#include "core/attention/kernels/panel_product.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

/// The product of a panel with rows of `a`. Rows of `a` have 3 extra numbers, and rows of the
/// result have 5.
std::vector<float> product_of(const Tensor& a, const Tensor& panel, std::int64_t first,
                              std::int64_t rows) {
  const std::int64_t stride = a.extent(1), out_stride = kPanelColumns + 5;
  std::vector<float> out(static_cast<std::size_t>(rows * out_stride), -1);
  multiply_panel(a.data() + first * stride, rows, stride, panel.data(), panel.extent(0), out.data(),
                 out_stride);
  return out;
}

TEST(PanelProduct, IsTheSumOfProducts) {
  for (const std::int64_t count : {0, 1, 31, 255, 256, 257, 700}) {
    for (const std::int64_t rows : {1, 2, 3, 5, 8, 13, 48, 55}) {
      const Tensor a = random_normal({rows, count + 3}, 1),
                   panel = random_normal({count, kPanelColumns}, 2);
      const std::vector<float> out = product_of(a, panel, 0, rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t c = 0; c < kPanelColumns + 5; ++c) {
          const auto found =
              static_cast<double>(out[static_cast<std::size_t>(i * (kPanelColumns + 5) + c)]);
          if (c >= kPanelColumns) {
            ASSERT_EQ(found, -1) << "belongs to another panel";
            continue;
          }
          double sum = 0, magnitude = 0;
          for (std::int64_t k = 0; k < count; ++k) {
            const double term =
                static_cast<double>(a.matrix()(i, k)) * static_cast<double>(panel.matrix()(k, c));
            sum += term;
            magnitude += std::abs(term);
          }
          // Each term has a product and an addition, and every 256 terms have one more addition.
          const auto roundings = static_cast<double>(std::min<std::int64_t>(count, 256) + 4);
          ASSERT_NEAR(found, sum, roundings * 0x1p-24 * magnitude)
              << rows << " rows of " << count << ", " << i << ", " << c;
        }
      }
    }
  }
}

TEST(PanelProduct, ARowDoesNotDependOnItsNeighbours) {
  constexpr std::int64_t kRows = 48;
  const Tensor a = random_normal({kRows, 300}, 3), panel = random_normal({297, kPanelColumns}, 4);
  const std::vector<float> all = product_of(a, panel, 0, kRows);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::vector<float> one = product_of(a, panel, i, 1);
    const auto begin = all.begin() + i * std::ssize(one);
    ASSERT_EQ(one, std::vector<float>(begin, begin + std::ssize(one))) << i << ": to the bit";
  }
}

}  // namespace
}  // namespace attnscope
