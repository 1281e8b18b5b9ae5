// Parallel loops over blocks of fixed size, with results that do not depend on the thread count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tbb/parallel_for.h>

namespace attnscope {

/// Calls work(first, count) for the blocks of `count` rows, each of up to `block` rows.
void for_blocks(std::int64_t count, std::int64_t block, const auto& work) {
  tbb::parallel_for(std::int64_t{0}, (count + block - 1) / block, [&](std::int64_t index) {
    const std::int64_t first = index * block;
    work(first, std::min(block, count - first));
  });
}

/// Replaces every value by function(value).
void for_each_value(std::span<float> values, const auto& function) {
  constexpr std::int64_t block = 1 << 14;
  for_blocks(std::ssize(values), block, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      float& value = values[static_cast<std::size_t>(i)];
      value = function(value);
    }
  });
}

}  // namespace attnscope
