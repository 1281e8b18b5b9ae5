// Reads one layer's weights from a checkpoint by role.
#pragma once

#include "core/model/parts/block.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Throws Error(damaged) naming a tensor whose shape does not fit the spec.
[[nodiscard]] Block read_block(const WeightReader& reader, const Architecture& architecture,
                               std::int64_t layer);

}  // namespace attnscope
