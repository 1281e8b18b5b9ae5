// A coarser grid of tokens, with its gradient: four neighbours become one.
#pragma once

#include <string>

#include "core/architecture/pyramid_grid.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// reduction(norm([x(0,0), x(1,0), x(0,1), x(1,1)])) of each 2 × 2 cells: as PatchMerging.
class TrainedMerging {
 public:
  struct Memory {
    Matrix four, normed, d_normed, d_four;
    TrainedNorm::Memory norm;
    TrainedLinear::Memory layer;
  };

  /// Of a grid of even sides; adds `name`.norm [4·C] and `name`.reduction [D, 4·C].
  TrainedMerging(ParameterTable& table, const std::string& name, const GridExtents& grid,
                 std::int64_t channels, std::int64_t width, double eps);

  /// x [sequences · grid, C] becomes [sequences · grid / 4, D].
  void forward(const float* values, Matrix& x, Memory& memory) const;
  /// dx, the gradient of what forward made, becomes that of what it was given.
  void backward(const float* values, float* gradients, Matrix& dx, Memory& memory) const;

 private:
  /// For every cell of the coarse grids: its row, the rows of its four, each with its part.
  template <class Act>
  void each_part(Eigen::Index coarse_rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t channels_;
  TrainedNorm norm_;
  TrainedLinear reduction_;
};

}  // namespace attnscope
