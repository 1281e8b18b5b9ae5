// Parameters of a mechanism as JSON: {"identity": true}.
#pragma once

#include <string>
#include <string_view>

#include "core/parameters/parameters.h"

namespace attnscope {

[[nodiscard]] std::string to_json(const ParameterValues& parameters);

/// Throws Error(damaged) unless `text` is an object of numbers, truth values and texts.
[[nodiscard]] ParameterValues parameters_from_json(std::string_view text);

}  // namespace attnscope
