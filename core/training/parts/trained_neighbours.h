// Conditional positions: a depthwise 3 × 3 convolution over the grid, added to the tokens, with its
// gradient (Chu et al. 2021).
#pragma once

#include <string>

#include "core/architecture/pyramid_grid.h"
#include "core/tensor/tensor.h"
#include "core/training/parameters/parameters.h"

namespace attnscope {

/// x += Σ_o w_o ⊙ x(cell + o) + b over the 3 × 3 cells around each cell, with zeros outside the
/// grid, like DepthwiseConvolution.
class TrainedNeighbours {
 public:
  /// Adds `name`.weight [D, 1, 3, 3] and `name`.bias [D].
  TrainedNeighbours(ParameterTable& table, const std::string& name, const GridExtents& grid,
                    std::int64_t width);

  /// Transforms x [sequences · grid, D] in place; `before` becomes a copy of the input.
  void forward(const float* values, Matrix& x, Matrix& before) const;
  /// Replaces dx, the gradient of forward's output, by that of `before`; `room` is overwritten.
  void backward(const float* values, float* gradients, const Matrix& before, Matrix& dx,
                Matrix& room) const;

 private:
  /// Calls act(token, neighbour, kernel index) for every pair of a token (row of x) and a
  /// neighbour.
  template <class Act>
  void each_pair(Eigen::Index rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t width_;
  ParameterSlot weight_, bias_;
};

}  // namespace attnscope
