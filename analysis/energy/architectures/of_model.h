// Helpers of architecture_of for heads and for text models.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/energy/architecture.h"

namespace attnscope {

/// Adds the head of a classifier.
void add_head(Network& architecture, const ModelSpec& spec, std::int64_t classes,
              const std::optional<WeightExtents>& weights);

/// Adds the stages and the head of a text model.
void add_text(Network& architecture, const ModelSpec& spec, std::int64_t tokens,
              std::int64_t classes, const std::optional<WeightExtents>& weights);

}  // namespace attnscope
