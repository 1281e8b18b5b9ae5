// How fast this CPU can make affinities of packed codes when nothing else is in the way.
#pragma once

#include <cstdint>

namespace attnscope {

/// What was made, and a sum of it that must not be optimised away.
struct Affinities {
  std::int64_t count;
  float sum;
};

/// Makes about `count` affinities b − 2 · popcount(x ^ y) of 64-bit codes as floats in registers,
/// without a load or a store.
Affinities popcount_in_registers(std::int64_t count);

}  // namespace attnscope
