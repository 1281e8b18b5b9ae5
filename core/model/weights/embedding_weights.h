// Reads the weights of a model's embedding from a checkpoint by role.
#pragma once

#include "core/model/parts/embedding.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Throws Error(damaged) naming a tensor whose shape does not fit the spec.
[[nodiscard]] Embedding read_embedding(const WeightReader& reader,
                                       const Architecture& architecture);

}  // namespace attnscope
