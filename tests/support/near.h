// Comparison of tensors with a tolerance.
#pragma once

#include <gtest/gtest.h>

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

}  // namespace attnscope
