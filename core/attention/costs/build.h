// Builders for the components that cost functions return.
#pragma once

#include <string>
#include <utility>

#include "core/attention/costs/cost.h"
#include "core/attention/costs/count.h"

namespace attnscope::costs {

inline constexpr std::int64_t kFloatBytes = 4;

/// A component with the same multiplications and additions in every convention.
inline OperationCount component(std::string name, Count multiplications, Count additions) {
  return {.component = std::move(name),
          .multiplications = multiplications.value(),
          .additions = additions.value()};
}

/// A component of `count` products, each accumulated.
inline OperationCount accumulated(std::string name, Count count) {
  return component(std::move(name), count, count);
}

/// Adds the memory traffic of `elements` float32 values if the convention counts it.
inline OperationCount moving(OperationCount count, CostConvention convention, Count elements) {
  if (convention == CostConvention::complete) count.bytes_moved = (kFloatBytes * elements).value();
  return count;
}

}  // namespace attnscope::costs
