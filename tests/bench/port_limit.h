// Peak rate of |a − b| and its addition on this CPU, without loads.
#pragma once

#include <cstdint>

namespace attnscope {

/// Number of differences computed, and a sum of them that prevents the optimiser from removing
/// them.
struct Differences {
  std::int64_t count;
  float sum;
};

/// Computes about `count` differences |a − b| in registers, without a single load, by subtraction,
/// absolute value and addition, like a straightforward kernel.
Differences subtract_and_add(std::int64_t count);

/// Like subtract_and_add, but computes 1·a − b in one fused instruction, which other ports may
/// execute.
Differences fuse_and_add(std::int64_t count);

}  // namespace attnscope
