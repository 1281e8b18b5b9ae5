// Eigenvalues of many symmetric tridiagonal matrices at once, one per SIMD lane: the division that
// one step of the QL algorithm waits for overlaps with other matrices.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/spectrum/condensed_form.h"

namespace attnscope {

/// Number of matrices per batch; larger batches are not faster per matrix.
inline constexpr std::size_t kEigenvalueBatch = 24;

/// All eigenvalues of each matrix, descending; negative ones become 0. All matrices have the same
/// number N ≥ 1 of rows. Uses the QL algorithm without square roots (Pal, Walker & Kahan, as in
/// dsterf): each value is accurate to a few √N 2⁻⁵³ of ‖T‖ and does not depend on the other
/// matrices. Empty for a matrix with an entry that is not finite, or if QL did not converge.
[[nodiscard]] std::vector<std::optional<std::vector<double>>> all_eigenvalues(
    std::span<const TwoDiagonals* const> matrices);

}  // namespace attnscope
