#include "tests/support/expected_maps.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <vector>

namespace attnscope {

void expect_map_rows(const Trace& trace, const Checkpoint& expected) {
  constexpr float kTolerance = 1e-5F;
  const Tensor rows = expected.at("map_rows").view().to_float();
  const std::vector<std::int64_t> which = expected.at("rows").view().to_int64();
  ASSERT_EQ(rows.extent(0), std::ssize(trace.layers));
  const float* value = rows.data();
  for (const LayerTrace& layer : trace.layers) {
    ASSERT_EQ(layer.implied_map.extent(0), rows.extent(1));
    ASSERT_EQ(layer.implied_map.extent(2), rows.extent(3));
    for (std::int64_t head = 0; head < rows.extent(1); ++head) {
      for (const std::int64_t row : which) {
        for (std::int64_t key = 0; key < rows.extent(3); ++key) {
          // The entries of a recurrence may be above 1.
          const float scale = std::max(1.0F, std::abs(*value));
          ASSERT_NEAR(layer.implied_map.at(head, row, key), *value++, kTolerance * scale)
              << "head " << head << ", " << row << ", " << key;
        }
      }
    }
  }
}

}  // namespace attnscope
