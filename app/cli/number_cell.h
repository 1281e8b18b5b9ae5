// Numbers in the tables that subcommands print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attnscope {

/// Right-aligned in `width` columns; "–" for what is not known (NaN).
[[nodiscard]] std::string number_cell(double value, int width, int digits);
[[nodiscard]] std::string number_cell(const std::optional<std::int64_t>& value, int width);

}  // namespace attnscope
