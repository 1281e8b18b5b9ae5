// Solves the linear assignment problem.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Assigns rows to columns one to one with the least sum of costs. Returns the column of each row,
/// -1 for surplus rows if there are more rows than columns. Exact, in O(n³), n the larger dimension
/// (Kuhn 1955, with the shortest augmenting paths of Jonker & Volgenant 1987). `costs` must be
/// finite. Deterministic.
[[nodiscard]] std::vector<std::int64_t> least_assignment(const MatrixD& costs);

}  // namespace attnscope
