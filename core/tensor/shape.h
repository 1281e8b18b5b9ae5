// Shapes of tensors: the lengths of the axes, slowest first (row-major).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

using Shape = std::vector<std::int64_t>;

/// Product of the dimensions; 1 for a scalar. Throws Error(damaged) for a negative dimension and if
/// the product exceeds 2^62.
[[nodiscard]] std::int64_t element_count(const Shape& shape);

/// The shape as text: "[3, 197, 197]".
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace attnscope
