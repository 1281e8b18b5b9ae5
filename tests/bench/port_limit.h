// How fast this CPU can make |a − b| and add it up when nothing else is in the way.
#pragma once

#include <cstdint>

namespace attnscope {

/// What was made, and a sum of it that must not be optimised away.
struct Differences {
  std::int64_t count;
  float sum;
};

/// Makes about `count` differences |a − b| in registers, without a single load, by subtraction,
/// absolute value and addition: what a straightforward kernel needs.
Differences subtract_and_add(std::int64_t count);

/// The same with 1·a − b in one fused instruction, which other ports may execute.
Differences fuse_and_add(std::int64_t count);

}  // namespace attnscope
