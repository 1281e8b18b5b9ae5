// How cost functions write a component: counts, and for `complete` the elements moved.
#pragma once

#include <string>
#include <utility>

#include "core/attention/costs/cost.h"
#include "core/attention/costs/count.h"

namespace attnscope::costs {

inline constexpr std::int64_t kFloatBytes = 4;

/// One component: multiplications and additions, by every accounting.
inline OperationCount component(std::string name, Count multiplications, Count additions) {
  return {.component = std::move(name),
          .multiplications = multiplications.value(),
          .additions = additions.value()};
}

/// `count` products, each accumulated.
inline OperationCount accumulated(std::string name, Count count) {
  return component(std::move(name), count, count);
}

/// With the traffic of `elements` float32 values, where the convention counts it.
inline OperationCount moving(OperationCount count, CostConvention convention, Count elements) {
  if (convention == CostConvention::complete) count.bytes_moved = (kFloatBytes * elements).value();
  return count;
}

}  // namespace attnscope::costs
