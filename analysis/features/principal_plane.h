// Projection of high-dimensional points onto the plane of their greatest variance (PCA).
#pragma once

#include <array>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct PrincipalPlane {
  std::vector<double> x, y;        ///< coordinates per row, in the features' units; mean 0
  std::array<double, 2> share{};   ///< share of the total variance per axis; 0 if there is none
  std::vector<double> first_axis;  ///< [D], unit length; all 0 if the direction has no variance
  std::vector<double> second_axis;
};

/// First two principal components of the rows of `points` [n, D], in double precision. The
/// component of greatest magnitude of each axis is positive, so the picture is reproducible.
/// Missing dimensions are 0 if there are fewer than two columns or rows. Throws Error(damaged) for
/// NaN or Inf.
[[nodiscard]] PrincipalPlane principal_plane(const Tensor& points);

}  // namespace attnscope
