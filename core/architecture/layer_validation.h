// Validates the settings of one layer.
#pragma once

#include <string>
#include <string_view>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// Throws Error(damaged) naming the member unless least <= value <= most.
void check_range(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most);

/// Throws Error(damaged) naming the member unless `holds`; `what` describes the valid values.
void check_member(bool holds, std::string_view name, std::string what, std::string found);

/// Throws Error(damaged) naming the member and its valid range. `layer` is a layer of `spec`.
void validate_layer(const ModelSpec& spec, const LayerSpec& layer);

}  // namespace attnscope
