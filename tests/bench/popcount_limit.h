// Peak rate of affinities of packed codes on this CPU, without loads and stores.
#pragma once

#include <cstdint>

namespace attnscope {

/// Number of affinities computed, and a sum of them that prevents the optimiser from removing them.
struct Affinities {
  std::int64_t count;
  float sum;
};

/// Computes about `count` affinities b − 2 · popcount(x ^ y) of 64-bit codes as floats in
/// registers, without loads and stores.
Affinities popcount_in_registers(std::int64_t count);

}  // namespace attnscope
