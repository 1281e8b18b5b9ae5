// Conversion of settings to and from JSON: {"identity": true}.
#pragma once

#include <string>
#include <string_view>

#include "core/parameters/parameters.h"

namespace attnscope {

[[nodiscard]] std::string to_json(const ParameterValues& parameters);

/// Parses `text`. Throws Error(damaged) unless it is an object of numbers, booleans, texts and
/// lists of numbers or texts. Indices are returned as text, which checked_parameter converts.
[[nodiscard]] ParameterValues parameters_from_json(std::string_view text);

}  // namespace attnscope
