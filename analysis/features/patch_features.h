// Tokens over the grid of patches: principal components as colours, and likeness to one token.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The tokens after a layer that lie on its grid of patches, [rows · columns, D], without class
/// tokens and registers. Throws Error(usage) if they were not recorded or form no grid.
[[nodiscard]] MatrixD patch_tokens(const Trace& trace, std::int64_t layer);

/// The first three principal components of patches. Each axis has the sign for which the scores of
/// these patches have a positive skewness; if they have none, its greatest entry is positive.
struct PatchAxes {
  Eigen::RowVectorXd mean;           ///< [D]
  MatrixD axes;                      ///< [3, D], of unit length
  Eigen::Vector3d deviation;         ///< deviation of the scores (n − 1); 0: no such component
  std::array<double, 3> share = {};  ///< share of the total variance
};
[[nodiscard]] PatchAxes patch_axes(const MatrixD& patches);

/// Red, green and blue of each patch, [n, 3], from 0 to 1: sigmoid(2 z) of its scores z in
/// deviations, so that outliers saturate (DINOv3, notebooks/pca.ipynb). ½ without a component. The
/// axes may be those of other patches of the same width; throws Error(usage) for another width.
[[nodiscard]] MatrixD patch_colours(const MatrixD& patches, const PatchAxes& axes);

/// x_i · x_j / (‖x_i‖ ‖x_j‖) of token i with every token j; NaN for tokens that are zero.
[[nodiscard]] std::vector<double> token_cosines(const MatrixD& tokens, std::int64_t token);

}  // namespace attnscope
