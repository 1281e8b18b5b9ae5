// Eigenvalues of many symmetric tridiagonal matrices at once, one in each SIMD lane: what one step
// of the QL algorithm waits for, a division, others use.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/spectrum/condensed_form.h"

namespace attnscope {

/// Matrices that are worth being given together: twice as many take twice as long.
inline constexpr std::size_t kEigenvalueBatch = 24;

/// All eigenvalues of each matrix, descending; those below 0 as 0. Matrices have N ≥ 1 rows, all
/// the same. By the QL algorithm without square roots (Pal, Walker & Kahan, as dsterf): each value
/// to a few √N 2⁻⁵³ of ‖T‖, the same whatever is given beside it. None of a matrix with an entry
/// that is not finite, or if QL did not converge.
[[nodiscard]] std::vector<std::optional<std::vector<double>>> all_eigenvalues(
    std::span<const TwoDiagonals* const> matrices);

}  // namespace attnscope
