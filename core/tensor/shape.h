// Shapes: extents of each axis, slowest first (row-major).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

using Shape = std::vector<std::int64_t>;

/// Product of the extents; 1 for a scalar. Throws Error(damaged) for a negative extent and when
/// the product exceeds 2^62.
[[nodiscard]] std::int64_t element_count(const Shape& shape);

/// "[3, 197, 197]"
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace attnscope
