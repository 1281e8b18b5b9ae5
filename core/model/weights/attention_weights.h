// Reads the weights of one layer's attention from a checkpoint by role.
#pragma once

#include "core/model/parts/attention_part.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Throws Error(damaged) naming a tensor whose shape does not fit `layer`.
[[nodiscard]] AttentionPart read_attention(const WeightReader& reader,
                                           const Architecture& architecture, const LayerSpec& layer,
                                           std::int64_t index);

}  // namespace attnscope
