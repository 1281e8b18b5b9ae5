// One layer's weights, read from a checkpoint by role.
#pragma once

#include "core/model/parts/block.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] Block read_block(const WeightReader& reader, const Architecture& architecture,
                               std::int64_t layer);

}  // namespace attnscope
