// The assignment problem.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Assigns rows to columns one to one so that the sum of the chosen costs is least: of each row its
/// column, -1 for the rows that are left over where there are more rows than columns. Exact, in
/// O(n³), n the larger extent (Kuhn 1955, with the shortest augmenting paths of Jonker & Volgenant
/// 1987). `costs` are finite. The same costs give the same assignment.
[[nodiscard]] std::vector<std::int64_t> least_assignment(const MatrixD& costs);

}  // namespace attnscope
