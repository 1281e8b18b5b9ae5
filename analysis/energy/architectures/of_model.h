// The parts of a loaded model's network that are in files of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/energy/architecture.h"

namespace attnscope {

/// Of a classifier.
void add_head(Network& architecture, const ModelSpec& spec, std::int64_t classes,
              const std::optional<WeightExtents>& weights);

/// All of a model of texts: its stages, and its head.
void add_text(Network& architecture, const ModelSpec& spec, std::int64_t tokens,
              std::int64_t classes, const std::optional<WeightExtents>& weights);

}  // namespace attnscope
