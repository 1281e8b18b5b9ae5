// Values of settings as JSON: {"identity": true}.
#pragma once

#include <string>
#include <string_view>

#include "core/parameters/parameters.h"

namespace attnscope {

[[nodiscard]] std::string to_json(const ParameterValues& parameters);

/// Throws Error(damaged) unless `text` is an object of numbers, truth values, texts and lists of
/// numbers or texts. Indices come back as their text: checked_parameter makes them of it.
[[nodiscard]] ParameterValues parameters_from_json(std::string_view text);

}  // namespace attnscope
