// Comparison of tensors with a tolerance.
#pragma once

#include <gtest/gtest.h>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Expects the same number of elements, each within `tolerance`; reports the index of the first
/// that is not.
inline void expect_near(const Tensor& found, const Tensor& expected, float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::int64_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found.data()[i], expected.data()[i], tolerance) << i;
  }
}

/// Expects the numbers of a reference, each within `tolerance`; reports the index of the first that
/// is not, after `name`.
inline void expect_values(const Tensor& found, const std::vector<double>& expected,
                          double tolerance, std::string_view name = {}) {
  ASSERT_EQ(found.size(), std::ssize(expected)) << name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found.values()[i], expected[i], tolerance) << name << " at " << i;
  }
}

}  // namespace attnscope
