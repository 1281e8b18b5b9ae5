// Where a token is, by what its neighbours on the grid are, with its gradient (Chu et al. 2021,
// conditional positions).
#pragma once

#include <string>

#include "core/architecture/pyramid_grid.h"
#include "core/tensor/tensor.h"
#include "core/training/parameters/parameters.h"

namespace attnscope {

/// x += Σ_o w_o ⊙ x(cell + o) + b over the 3 × 3 cells around, zeros outside the grid: as
/// DepthwiseConvolution.
class TrainedNeighbours {
 public:
  /// Adds `name`.weight [D, 1, 3, 3] and `name`.bias [D].
  TrainedNeighbours(ParameterTable& table, const std::string& name, const GridExtents& grid,
                    std::int64_t width);

  /// x [sequences · grid, D], in place; `before` becomes what x was.
  void forward(const float* values, Matrix& x, Matrix& before) const;
  /// dx, the gradient of what forward made, becomes that of `before`; `room` is written to.
  void backward(const float* values, float* gradients, const Matrix& before, Matrix& dx,
                Matrix& room) const;

 private:
  /// Every pair of a token (row of x) and a neighbour, with the number of its place in the kernel.
  template <class Act>
  void each_pair(Eigen::Index rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t width_;
  ParameterSlot weight_, bias_;
};

}  // namespace attnscope
