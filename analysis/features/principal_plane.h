// Points in many dimensions seen in the plane in which they vary most (principal components).
#pragma once

#include <array>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct PrincipalPlane {
  std::vector<double> x, y;        ///< of every row, in the features' units; their mean is 0
  std::array<double, 2> share{};   ///< of the total variance along each; 0 where there is none
  std::vector<double> first_axis;  ///< [D], of unit length
  std::vector<double> second_axis;
};

/// The first two principal components of the rows of `points` [n, D], in double precision. An
/// axis's greatest component by magnitude is positive, so that the picture is always the same. With
/// fewer than two dimensions or rows what is missing is 0. Throws Error(damaged) for NaN or Inf.
[[nodiscard]] PrincipalPlane principal_plane(const Tensor& points);

}  // namespace attnscope
