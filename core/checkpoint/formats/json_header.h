// JSON from strangers: parsed with duplicate keys, depth and syntax checked.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace attnscope {

/// Parses `text` as a JSON object. Throws Error(damaged) for a syntax error, anything but an
/// object, nesting deeper than 16, and a key that an object has twice.
[[nodiscard]] nlohmann::json parse_header(std::string_view text);

}  // namespace attnscope
